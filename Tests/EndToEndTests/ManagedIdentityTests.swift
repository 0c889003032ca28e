// Machines without a secret: the proxy gets a managed identity's tokens from a stand-in for each of Azure's services,
// from which msal's own client gets its tokens, too.

import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(3)))
struct ManagedIdentityTests {
  private let directory: TemporaryDirectory
  private let thumbprint: String
  private let service: PythonPeer
  private let tlsPort: Int
  private var port: Int { service.port }

  init() async throws {
    directory = try TemporaryDirectory()
    let certificate = try await CertificateAuthority(in: directory).issue("service")
    thumbprint = try await certificate.fingerprint("sha1")
    service = try await PythonPeer(
      "identity_service.py", certificate.options + ["--arc-directory", directory.path], in: directory)
    tlsPort = try #require(service.process.output.firstMatch(of: /tls ([0-9]+)/).flatMap { Int($0.1) })
  }

  /// The variables of a platform, the text under `managed_identity`, and the stand-in's name for it.
  struct Platform: Sendable {
    let name: String
    let variables: [String: String]
    var keys = ""
  }

  private static let secret = "header-secret-of-the-platform"

  static let platforms = [
    Platform(name: "imds", variables: ["AZURE_POD_IDENTITY_AUTHORITY_HOST": "http://127.0.0.1:PORT"]),
    Platform(
      name: "imds",
      variables: ["AZURE_POD_IDENTITY_AUTHORITY_HOST": "http://127.0.0.1:PORT", "MSI_ENDPOINT": "http://x"],
      keys: "source: imds, object_id: 0a1b2c3d-0000-4000-8000-0000000000b1"),
    Platform(
      name: "msi", variables: ["IDENTITY_ENDPOINT": "http://127.0.0.1:PORT/msi/token", "IDENTITY_HEADER": secret],
      keys:
        "resource_id: "
        + "/subscriptions/s/resourcegroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/orders"
    ),
    Platform(
      name: "ml", variables: ["MSI_ENDPOINT": "http://localhost:PORT/ml/token", "MSI_SECRET": secret],
      keys: "client_id: 0a1b2c3d-0000-4000-8000-00000000c11e"),
    Platform(name: "shell", variables: ["MSI_ENDPOINT": "http://127.0.0.1:PORT/shell/token"]),
    Platform(
      name: "fabric",
      variables: [
        "IDENTITY_ENDPOINT": "https://127.0.0.1:TLS/fabric/token", "IDENTITY_HEADER": secret,
        "IDENTITY_SERVER_THUMBPRINT": "PIN",
      ]),
  ]

  private func proxy(_ platform: Platform, pin: String? = nil) async throws -> (ProxyUnderTest, PythonPeer) {
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let variables = platform.variables.mapValues {
      $0.replacing("PORT", with: "\(port)").replacing("TLS", with: "\(tlsPort)")
        .replacing("PIN", with: pin ?? thumbprint)
    }
    let proxy = try await ProxyUnderTest(
      in: directory, environment: variables,
      """
      applications:
        contoso: {credential: {managed_identity: {\(platform.keys)}}}
      routes:
      \(route("orders", to: upstream.port, scopes: "https://orders.example/.default"))
      """)
    return (proxy, upstream)
  }

  @Test(arguments: platforms)
  func `each platform's service gives the proxy its tokens`(platform: Platform) async throws {
    let (proxy, upstream) = try await proxy(platform)
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 }, "\(proxy.process.errors)")
    for _ in 0..<3 {
      let seen = try await proxy.get("/orders/seen").body
      #expect(seen.contains("Authorization: Bearer managed.\(platform.name).1"), "\(seen)")
    }
    #expect(!proxy.everythingWritten.contains("managed.\(platform.name).1"))
    #expect(upstream.requests.count == 3)
  }

  @Test func `msal's own client gets its tokens from the same services`() async throws {
    try await succeed(
      peer("identity_service.py", ["--judge", "\(port)", "\(tlsPort)", thumbprint, "--arc-directory", directory.path]))
  }

  @Test func `a service with another certificate is not shown the secret`() async throws {
    let (proxy, _) = try await proxy(Self.platforms[5], pin: String(thumbprint.reversed()))
    #expect(try await eventually { proxy.process.errors.contains("failed the TLS handshake") })
    #expect(try await proxy.get("/orders/1").status == 503)
    let requests = try await curl(["http://127.0.0.1:\(port)/testing/requests"]).body
    #expect(requests == "[]")
  }
}
