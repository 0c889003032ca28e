// A proxy with one route and a token for it, a provider that numbers its tokens, and an upstream that answers as a test
// says.

import Bytes
import HTTPClient
import Identity
@testable import Platform
import Routing
import Synchronization
import Telemetry
import TestSupport
import Testing
import Tokens

@testable import Proxy

/// A request as the upstream got it.
struct UpstreamRequest: Sendable {
  var head: String
  var body: String
  /// The connection's number, from 0.
  var connection: Int

  /// The token it carries.
  var token: String? {
    head.split(separator: "\r\n").first { $0.hasPrefix("Authorization: ") }.map { String($0.dropFirst(15)) }
  }
}

/// Everything around one exchange, in this process.
final class ChallengeBench: Sendable {
  static let claims = #"{"access_token":{"nbf":{"essential":true,"value":"1"}}}"#
  static let claimsField =
    "WWW-Authenticate: Bearer realm=\"\", error=\"insufficient_claims\", "
    + "claims=\"eyJhY2Nlc3NfdG9rZW4iOnsibmJmIjp7ImVzc2VudGlhbCI6dHJ1ZSwidmFsdWUiOiIxIn19fQ==\"\r\n"

  private struct Log {
    var requests: [UpstreamRequest] = []
    var forms: [String] = []
    var lines: [String] = []
    var answers: [FetchResponse] = []
    var server: ProxyServer?
  }

  private let log: Locked<Log>
  /// Token requests to the provider.
  let asked = Tally()
  let upstream: LoopServer
  let proxy: ProxyFixture

  /// - Parameters:
  ///   - age: seconds since the tokens were obtained.
  ///   - early: what a connection is answered before its request's content is read; nil: nothing.
  ///   - answer: the answer to a request.
  init(
    rules: RouteTokenRules = RouteTokenRules(), age: Int64 = 0, person: Bool = false, isDown: Bool = false,
    early: @escaping @Sendable (UpstreamRequest) -> String? = { _ in nil },
    answer: @escaping @Sendable (UpstreamRequest) -> String
  ) throws {
    let log = Locked(Log())
    self.log = log
    let loop = try EventLoop()
    upstream = try LoopServer(on: loop) { stream, connection in
      while true {
        let head = await stream.requestHead()
        if head.isEmpty { return }
        var request = UpstreamRequest(head: head, body: "", connection: connection)
        if let text = early(request) {
          log.withLock { $0.requests.append(request) }
          await stream.sendAll(text)
          return
        }
        request.body = await Self.body(head, stream)
        log.withLock { [request] in $0.requests.append(request) }
        let text = answer(request)
        await stream.sendAll(text)
        if text.contains("Connection: close") { return }
      }
    }
    let application = Application(
      name: "demo", authority: try Authority("https://id.example/realms/demo"), clientID: "client",
      credential: .secret(Secret("s3cret")),
      fetch: { [asked] request throws(FetchError) in
        if isDown { throw .timedOut(host: "id.example") }
        guard case .post(_, let body) = request.method else {
          let text =
            #"{"issuer": "https://id.example/realms/demo", "token_endpoint": "https://id.example/token", "#
            + #""authorization_endpoint": "https://id.example/a"}"#
          return FetchResponse(status: 200, fields: [], body: Array(text.utf8))
        }
        defer { asked.signal() }
        return log.withLock { log in
          log.forms.append(String(decoding: body, as: UTF8.self))
          if log.forms.count > 1, !log.answers.isEmpty { return log.answers.removeFirst() }
          let text = #"{"access_token": "T\#(log.forms.count)", "token_type": "Bearer", "expires_in": 36000}"#
          return FetchResponse(status: 200, fields: [], body: Array(text.utf8))
        }
      })
    let subscription =
      person
      ? TokenSubscription(application: application, subject: .account(nil), scopes: try ScopeSet(["A"]))
      : TokenSubscription(application: application, scopes: try ScopeSet(["A"]))
    // A clock that does not move: however slow the machine, no pause is over.
    let start = UnixTime.now - age
    let broker = TokenBroker(
      TokenBroker.Surroundings(
        now: { start }, patience: TokenBroker.endlessPatience,
        publish: { key, value in log.withLock { $0.server }?.publish(value, for: key) }))
    proxy = try ProxyFixture(
      upstream: upstream.port,
      tokens: ProxyFixture.TokenPart(
        subscription: subscription, rules: rules, broker: broker,
        attach: { server in log.withLock { $0.server = server } },
        log: { line in log.withLock { $0.lines.append(String(decoding: line, as: UTF8.self)) } },
        signInLink: { route, _ in "/.bearer/sign-in?route=\(route.name)" }))
  }

  private static func body(_ head: String, _ stream: ByteStream) async -> String {
    let lines = head.lowercased().split(separator: "\r\n")
    if let line = lines.first(where: { $0.hasPrefix("content-length: ") }), let count = Int(line.dropFirst(16)) {
      return String(decoding: await stream.receiveAll(count).bytes, as: UTF8.self)
    }
    return lines.contains("transfer-encoding: chunked") ? await stream.receiveText(through: "0\r\n\r\n") : ""
  }

  /// The provider's answers to the requests after the first.
  func provider(answers: FetchResponse...) { log.withLock { $0.answers += answers } }

  /// The requests to the upstream, in order.
  var requests: [UpstreamRequest] { log.withLock { $0.requests } }
  /// The requests to the provider, in order.
  var forms: [String] { log.withLock { $0.forms } }
  /// The log.
  var lines: [String] { log.withLock { $0.lines } }

  /// The answer to a request on a connection of its own.
  func ask(_ request: String) async throws -> String {
    let caller = try await proxy.caller(sending: request, patience: 240)
    return try await caller.receive()
  }

  func get(_ path: String = "/", _ fields: String = "") async throws -> String {
    try await ask("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)Connection: close\r\n\r\n")
  }

  func post(_ body: String, _ fields: String = "") async throws -> String {
    try await ask(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\(fields)Connection: "
        + "close\r\n\r\n\(body)"
    )
  }

  /// The value of `bearer_proxy_challenges_total`.
  func count(_ kind: String, _ outcome: String) -> Int {
    value("bearer_proxy_challenges_total{kind=\"\(kind)\",outcome=\"\(outcome)\"} ")
  }

  /// The value of `bearer_proxy_tokens_handed_out_total`.
  var handedOut: Int { max(value("bearer_proxy_tokens_handed_out_total{program=\"engine\",route=\"all\"} "), 0) }

  private func value(_ name: String) -> Int {
    let text = String(decoding: proxy.service.registry.prometheusText(), as: UTF8.self)
    return text.split(separator: "\n").first { $0.hasPrefix(name) }.flatMap { Int($0.dropFirst(name.count)) } ?? -1
  }

  static let fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  static func refusal(_ fields: String, status: String = "401 Unauthorized") -> String {
    "HTTP/1.1 \(status)\r\n\(fields)X-Trace: 7\r\nContent-Length: 3\r\n\r\nno\n"
  }
}
