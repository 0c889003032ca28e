// A client secret that is replaced while the proxy serves, by a wrong one and by the right one: no request is lost
// either way.

import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(3)))
struct CredentialRotationTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func proxy(_ provider: OpenIDProvider, _ upstream: PythonPeer) async throws -> ProxyUnderTest {
    try directory.replace("secret", with: OpenIDProvider.secret)
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      applications:
        contoso: {authority: "\(provider.issuer)", client_id: \(OpenIDProvider.client), client_secret_file: secret}
      routes:
      \(route("orders", to: upstream.port))
      """)
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 })
    return proxy
  }

  @Test func `a wrong secret is told in log, status and metric and costs no request, and a right one takes over`()
    async throws
  {
    let provider = try await OpenIDProvider(in: directory)
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let proxy = try await proxy(provider, upstream)
    func isFormer() async throws -> Int { try await metricSum(proxy, "bearer_proxy_token_former_credential") }
    #expect(try await isFormer() == 0)
    let first = try #require(try await proxy.ordersToken())
    try directory.replace("secret", with: "not-the-secret")
    #expect(try await eventually { try await isFormer() == 1 })
    #expect(
      try await eventually {
        proxy.records("changed credential obtained no token, the one of the former credential still serves") == 1
      })
    #expect(try await proxy.ordersToken() == first)
    let status = try await proxy.admin("/status").body
    #expect(status.contains("provider refuses since ") && status.contains("invalid_client"))
    #expect(status.contains("; the held token, obtained with the former credential, serves for "))
    #expect(try await proxy.admin("/status?format=json").body.contains("\"former_credential\":true"))
    #expect(try await proxy.admin("/readyz").status == 200)

    try directory.replace("secret", with: OpenIDProvider.secret + "\n")
    #expect(try await eventually { try await isFormer() == 0 })
    #expect(try await eventually { proxy.records("changed credential accepted, token obtained") == 1 })
    let second = try #require(try await proxy.ordersToken())
    #expect(second != first)
    #expect(try await proxy.admin("/status?format=json").body.contains("\"former_credential\":false"))
    #expect(upstream.requests.count == 3)
  }

  @Test func `under load across thirty reloads with secrets rotated wrong and right no request fails`() async throws {
    let provider = try await OpenIDProvider(in: directory)
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let proxy = try await proxy(provider, upstream)
    let load = Load()
    try await withThrowingTaskGroup(of: (answered: Int, failures: [String]).self) { group in
      for _ in 0..<3 {
        group.addTask {
          try await load.call(proxy, "/orders/seen") { $0.contains("traceparent") || $0.contains("\"status\"") }
        }
      }
      for turn in 1...30 {
        let isWrong = !turn.isMultiple(of: 2)
        try directory.replace("secret", with: isWrong ? "wrong-\(turn)" : OpenIDProvider.secret)
        proxy.process.send(SIGHUP)
        // Each is taken up, tried, and found wrong or right, before the next one comes.
        #expect(
          try await eventually {
            let counts = [
              try await metricSum(proxy, "bearer_proxy_token_former_credential"),
              try await metricSum(proxy, "bearer_proxy_token_requests_total", "result=\"configuration\""),
              try await metricSum(proxy, "bearer_proxy_token_requests_total", "result=\"obtained\""),
            ]
            return counts == [isWrong ? 1 : 0, (turn + 1) / 2, turn / 2 + 1]
          }, "reload \(turn)")
      }
      load.end()
      var answered = 0
      for try await result in group {
        #expect(result.failures == [])
        answered += result.answered
      }
      #expect(answered > 30)
      print("30 reloads, 15 wrong secrets, 15 right ones: \(answered) requests answered, none refused")
    }
    #expect(proxy.records("configuration reloaded") >= 30)
    #expect(!upstream.requests.isEmpty)
    // The first token and each right secret's: one request. A wrong one: in the field, and once in the form.
    #expect(try await provider.requests(to: "token") == 16 + 2 * 15)
  }
}
