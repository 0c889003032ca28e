// A client secret that is replaced while the proxy serves, by a wrong one and by the right one: no request is lost
// either way.

import FoundationEssentials
import Glibc
import class Platform.Locked
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(3)))
struct CredentialRotationTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Replaces the secret's file as a secret store does: the old one or the new one is there, never half of one.
  private func write(_ secret: String) throws {
    try directory.write(secret, to: "secret.new")
    chmod(directory.file("secret.new"), 0o600)
    guard rename(directory.file("secret.new"), directory.file("secret")) == 0 else {
      throw TestSupportError("cannot replace the secret")
    }
  }

  private func proxy(_ provider: OpenIDProvider, _ upstream: ScriptedUpstream) async throws -> ProxyUnderTest {
    try write(OpenIDProvider.secret)
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

  private static func records(_ proxy: ProxyUnderTest, _ message: String) -> Int {
    proxy.process.errors.split(separator: "\n").count { $0.contains("\"message\":\"\(message)\"") }
  }

  /// The token that the upstream sees.
  private static func token(_ proxy: ProxyUnderTest) async throws -> String? {
    try await proxy.get("/orders/seen").body.firstMatch(of: /Authorization: Bearer (\S+)/).map { String($0.1) }
  }

  @Test func `a wrong secret is told in log, status and metric and costs no request, and a right one takes over`()
    async throws
  {
    let provider = try await OpenIDProvider(in: directory)
    let upstream = try await ScriptedUpstream(in: directory)
    let proxy = try await proxy(provider, upstream)
    func isFormer() async throws -> Int { try await metricSum(proxy, "bearer_proxy_token_former_credential") }
    #expect(try await isFormer() == 0)
    let first = try #require(try await Self.token(proxy))
    try write("not-the-secret")
    #expect(try await eventually { try await isFormer() == 1 })
    #expect(
      try await eventually {
        Self.records(proxy, "changed credential obtained no token, the one of the former credential still serves") == 1
      })
    #expect(try await Self.token(proxy) == first)
    let status = try await proxy.admin("/status").body
    #expect(status.contains("provider refuses since ") && status.contains("invalid_client"))
    #expect(status.contains("; the held token, obtained with the former credential, serves for "))
    #expect(try await proxy.admin("/status?format=json").body.contains("\"former_credential\":true"))
    #expect(try await proxy.admin("/readyz").status == 200)

    try write(OpenIDProvider.secret + "\n")
    #expect(try await eventually { try await isFormer() == 0 })
    #expect(try await eventually { Self.records(proxy, "changed credential accepted, token obtained") == 1 })
    let second = try #require(try await Self.token(proxy))
    #expect(second != first)
    #expect(try await proxy.admin("/status?format=json").body.contains("\"former_credential\":false"))
    #expect(upstream.requests.count == 3)
  }

  /// True until callers shall end.
  private final class Load: Sendable {
    private let isOn = Locked(true)
    var goesOn: Bool { isOn.withLock { $0 } }
    func end() { isOn.withLock { $0 = false } }
  }

  /// Calls on one connection until told to stop; how often, and what was answered otherwise than with a token.
  private static func call(
    _ proxy: ProxyUnderTest, while load: Load
  ) async throws -> (answered: Int, failures: [String]) {
    var (answered, failures) = (0, [String]())
    var connection = try proxy.connect()
    while load.goesOn, failures.count < 4 {
      try await connection.send("GET /orders/seen HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      let answer = try await connection.receive { $0.contains("traceparent") || $0.contains("\"status\"") }
      if answer.hasPrefix("HTTP/1.1 200 "), answer.contains("Authorization: Bearer ") {
        answered += 1
      } else {
        failures.append(String(answer.prefix(300)))
        connection = try proxy.connect()
      }
    }
    return (answered, failures)
  }

  @Test func `under load across a hundred reloads with secrets rotated wrong and right no request fails`() async throws
  {
    let provider = try await OpenIDProvider(in: directory)
    let upstream = try await ScriptedUpstream(in: directory)
    let proxy = try await proxy(provider, upstream)
    let load = Load()
    try await withThrowingTaskGroup(of: (answered: Int, failures: [String]).self) { group in
      for _ in 0..<3 { group.addTask { try await Self.call(proxy, while: load) } }
      for turn in 1...100 {
        let isWrong = !turn.isMultiple(of: 2)
        try write(isWrong ? "wrong-\(turn)" : OpenIDProvider.secret)
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
      #expect(answered > 100)
      print("100 reloads, 50 wrong secrets, 50 right ones: \(answered) requests answered, none refused")
    }
    #expect(Self.records(proxy, "configuration reloaded") >= 100)
    #expect(!upstream.requests.isEmpty)
    // The first token and each right secret's: one request. A wrong one: in the field, and once in the form.
    #expect(try await provider.requests(to: "token") == 51 + 2 * 50)
  }
}
