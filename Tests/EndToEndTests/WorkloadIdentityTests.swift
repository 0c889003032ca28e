// A pod without a secret: its service account's token proves the application, and is replaced while the proxy runs.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct WorkloadIdentityTests {
  let directory: TemporaryDirectory
  let cluster: FederatedIssuer
  let settings: DemoSettings
  let services: DemoServices
  let nginx: NginxUpstream

  init() async throws {
    directory = try TemporaryDirectory()
    cluster = try FederatedIssuer()
    var settings = DemoSettings(directory: directory.path)
    settings.federated = [FederatedCredential(issuer: cluster.name, subject: cluster.subject, keys: cluster.keys)]
    settings.behaviour.accessTokenLifetime = 4
    self.settings = settings
    services = try DemoServices(settings)
    let authority = try await CertificateAuthority(in: directory)
    nginx = try await NginxUpstream(in: directory, certificate: authority.issue("upstream"))
  }

  /// Puts a token into the pod's directory, as a kubelet does: another directory, and a link that is turned to it.
  private func project(_ token: String?, _ version: Int) async throws {
    ProxyLedger.current?.add(secret: token ?? "no-token-at-all")
    try FileManager.default.createDirectory(atPath: directory.file("v\(version)"), withIntermediateDirectories: false)
    if let token {
      try directory.write(token, to: "v\(version)/federated-token")
      try await succeed(["chmod", "440", directory.file("v\(version)/federated-token")])
    }
    try await succeed(["ln", "-s", "v\(version)", directory.file("..next")])
    try await succeed(["mv", "-T", directory.file("..next"), directory.file("..data")])
  }

  private func run(_ body: (ProxyUnderTest) async throws -> Void) async throws {
    try await succeed(["ln", "-s", "..data/federated-token", directory.file("federated-token")])
    let proxy = try await ProxyUnderTest(
      in: directory,
      environment: [
        "AZURE_CLIENT_ID": DemoDirectory.Sample.portal,
        "AZURE_FEDERATED_TOKEN_FILE": directory.file("federated-token"),
      ],
      """
      applications:
        workload:
          authority: "\(services.issuer)"
          client_id: ${AZURE_CLIENT_ID}
          client_assertion_file: ${AZURE_FEDERATED_TOKEN_FILE}
          tls: {ca_file: "\(settings.authorityPath)"}
      routes:
        - {name: orders, path: /orders/, upstream: "http://127.0.0.1:\(nginx.port)/echo/", application: workload,
           token: {as: application, scopes: ["api://orders/.default"]}}

      """)
    try await body(proxy)
    await services.stop()
  }

  @Test func `the token that the pod has at each moment is the proof, and a reload is not needed`() async throws {
    try await project(try cluster.tokenNow(lifetime: 3), 0)
    try await run { proxy in
      // On a busy machine one that short may be over before the proxy shows it; then the next may not.
      var count = 0
      let isServed = try await eventually {
        count += 1
        try await project(try cluster.tokenNow(lifetime: 3), count)
        return try await proxy.get("/orders/1").status == 200
      }
      #expect(isServed)
      // A provider that is shown one that is over says so (AADSTS700024).
      func refusals() -> Int { proxy.everythingWritten.split(separator: "AADSTS").count }
      let before = refusals()
      try await project(try cluster.tokenNow(), count + 1)
      try await Task.sleep(for: .seconds(5))
      for _ in 0..<3 {
        #expect(try await proxy.get("/orders/2").status == 200)
        try await Task.sleep(for: .seconds(2))
      }
      #expect(refusals() == before, "\(proxy.process.errors)")
      #expect(!proxy.everythingWritten.contains("configuration reloaded"))
    }
  }

  @Test func `a token that is gone is said so in the log, and taken up when it is back`() async throws {
    try await project(try cluster.tokenNow(), 1)
    try await run { proxy in
      #expect(try await eventually { try await proxy.get("/orders/1").status == 200 })
      try await project(nil, 2)
      #expect(try await eventually { try await proxy.get("/orders/2").status == 503 })
      let words =
        "the client assertion cannot be read from \(directory.file("federated-token")): No such file or directory"
      #expect(proxy.process.errors.contains(words), "\(proxy.process.errors)")
      try await project(try cluster.tokenNow(), 3)
      #expect(try await eventually { try await proxy.get("/orders/3").status == 200 })
    }
  }
}
