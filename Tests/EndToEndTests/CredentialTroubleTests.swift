// Mistakes in an application's credential: each is reported with its place, its cause and its cure, by `check`
// or `check --live`; and a running proxy that meets it keeps serving what it holds.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct CredentialTroubleTests {
  private let demo: DemoScene
  private var directory: TemporaryDirectory { demo.directory }

  init() throws {
    demo = try DemoScene()
    for name in ["rsa.pem", "rsa.key", "ec-rc2.pfx", "ec.key", "ec-encrypted.key", "ec.pem"] {
      let source = testsDirectory + "/Fixtures/certificates/" + name
      try FileManager.default.copyItem(atPath: source, toPath: directory.file(name))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory.file(name))
    }
    try directory.write("not-the-passphrase", to: "wrong.txt")
  }

  private func write(_ credential: String, authority: Bool = true) throws -> String {
    let proof = "credential: {\(credential)}"
    return try directory.write(
      """
      listeners: [{address: "127.0.0.1:0"}]
      applications:
        nightly: \(authority ? demo.application(DemoDirectory.Sample.nightly, ", \(proof)") : "{\(proof)}")
      routes:
        - {name: orders, path: /orders/, upstream: "\(demo.services.apiOrigin)/api/", application: nightly, \(demo.tls),
           token: {as: application, scopes: ["api://orders/.default"]}}
      """, to: "trouble.yaml")
  }

  /// The text under `credential`, and the message.
  static let mistakes: [(String, String)] = [
    (
      "certificate: {certificate_file: rsa.pem, key_file: ec.key}",
      "credential.certificate.key_file: DIR/ec.key is not the key of the certificate in DIR/rsa.pem"
    ),
    (
      "certificate: {certificate_file: ec.pem, key_file: ec-encrypted.key, passphrase_file: wrong.txt}",
      "it is not the passphrase of DIR/ec-encrypted.key"
    ),
    ("certificate: {pfx_file: ec-rc2.pfx, passphrase: orders-passphrase}", "openssl pkcs12 -legacy -in OLD"),
    (
      "mutual_tls: {certificate_file: rsa.pem, key_file: ec.key}",
      "credential.mutual_tls.key_file: DIR/ec.key is not the key of the certificate in DIR/rsa.pem"
    ),
    ("managed_identity: {source: app_service}", "needs the variable IDENTITY_ENDPOINT"),
    ("workload_identity: {}", "the environment has no AZURE_FEDERATED_TOKEN_FILE"),
    ("federated: {github_actions: {}}", "a job has it with the permission 'id-token: write'"),
  ]

  /// The text under `credential`, variables, and the finding and the cure of `check --live`.
  static let troubles: [(String, [String: String], String, String)] = [
    (
      "certificate: {certificate_file: rsa.pem, key_file: rsa.key, algorithm: PS256}", [:], "AADSTS700027",
      "Register the certificate with the thumbprint "
    ),
    (
      "managed_identity: {client_id: stranger}", ["AZURE_POD_IDENTITY_AUTHORITY_HOST": "IDENTITY"],
      "invalid_request; Identity not found", "Assign the identity to this machine"
    ),
    (
      "managed_identity: {}", ["MSI_ENDPOINT": "http://127.0.0.1:1/left-over"], "accepted no connection",
      "or were MSI_ENDPOINT left over from elsewhere"
    ),
    (
      "federated: {managed_identity: {client_id: stranger}}", ["AZURE_POD_IDENTITY_AUTHORITY_HOST": "IDENTITY"],
      "the managed identity service (imds) gave no token that proves the application: invalid_request",
      "Assign the identity to this machine"
    ),
    (
      "federated: {gcp: {}}", ["GCE_METADATA_HOST": "127.0.0.1:1"],
      "Google Cloud's metadata server gave no token that proves the application", "Is this a machine, pod or job"
    ),
    (
      "federated: {gcp: {}}", ["GCE_METADATA_HOST": "IDENTITY"], "Google Cloud's metadata server gave no token",
      "Is this a machine, pod or job"
    ),
  ]

  @Test func `trouble elsewhere is found by check --live, with its cause and its cure`() async throws {
    let origin = demo.services.identityOrigin
    for (credential, variables, cause, cure) in Self.troubles {
      let file = try write(credential, authority: !credential.hasPrefix("managed"))
      let environment = variables.mapValues {
        $0.replacing("IDENTITY", with: variables["GCE_METADATA_HOST"] == nil ? origin : String(origin.dropFirst(7)))
      }
      let check = try await run([try binary(), "check", "-c", file, "--live"], environment: environment)
      #expect(check.status == 1 && check.output.contains(cause), "\(check.output)\(check.errors)")
      #expect(check.output.contains(cure), "\(check.output)")
    }
  }

  @Test func `a running proxy loses nothing that it holds by any of them`() async throws {
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let good = "certificate: {certificate_file: client.pem, key_file: client.key, algorithm: PS256}"
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      applications:
        nightly: \(demo.application(DemoDirectory.Sample.nightly, ", credential: {\(good)}"))
      routes:
        - {name: orders, path: /orders/, upstream: "http://127.0.0.1:\(upstream.port)/", application: nightly,
           token: {as: application, scopes: ["api://orders/.default"]}}

      """)
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 }, "\(proxy.process.errors)")
    let held = try #require(try await proxy.ordersToken())
    let text = textOfFile(proxy.configuration)
    let bad = Self.mistakes + [(Self.troubles[0].0, "AADSTS700027")]
    for (credential, words) in bad {
      try directory.write(text.replacing(good, with: credential), to: "proxy.yaml")
      let expected = words.replacing("DIR/", with: directory.path + "/")
      #expect(
        try await eventually { proxy.process.errors.contains(expected) }, "\(credential)\n\(proxy.process.errors)")
      #expect(try await proxy.ordersToken() == held, "\(credential)")
    }
  }
}
