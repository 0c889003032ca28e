import Bytes
import HTTP
import Testing
import Tokens

@Suite struct DeviceCodeTests {
  private static let now = UnixTime(1_700_000_000)

  private static func reply(_ json: String, status: Int = 200) throws(TokenFailure) -> DeviceAuthorizationReply {
    try DeviceAuthorizationReply(ProviderAnswer(status: status, body: Array(json.utf8)), sent: .none, now: now)
  }

  private static func good(_ more: String = "", uri: String = "https://id.example/device") -> String {
    #"{"device_code": "D", "user_code": "AB-CD", "verification_uri": "\#(uri)"\#(more)}"#
  }

  @Test(
    arguments: [
      ("", 1800, 5), (#", "expires_in": 900, "interval": 7"#, 900, 7),
      (#", "expires_in": "900", "interval": "5""#, 900, 5),
      (#", "interval": 0"#, 1800, 1), (#", "interval": null"#, 1800, 5),
    ] as [(String, Int64, Int64)])
  func `numbers may be strings or absent`(more: String, expiresIn: Int64, interval: Int64) throws {
    let reply = try Self.reply(Self.good(more))
    #expect(reply.expiresIn == expiresIn)
    #expect(reply.interval == interval)
    #expect(reply.deviceCode == Secret("D"))
    #expect(reply.userCode == "AB-CD")
  }

  @Test func `only valid addresses are kept`() throws {
    let both = try Self.reply(Self.good(#", "verification_uri_complete": "https://id.example/device?c=AB-CD""#))
    #expect(both.verificationURI == "https://id.example/device")
    #expect(both.completeURI == "https://id.example/device?c=AB-CD")
    #expect(try Self.reply(Self.good(#", "verification_uri_complete": "javascript:1""#)).completeURI == nil)
    let older = #"{"device_code": "D", "user_code": "A", "verification_url": "https://g.example"}"#
    #expect(try Self.reply(older).verificationURI == "https://g.example")
  }

  @Test(
    arguments: [
      ("<html>", 200, .unintelligible), ("{}", 200, .unintelligible), (good(), 500, .unintelligible),
      (good(uri: "javascript:alert(1)"), 200, .unintelligible), (good(uri: "/device"), 200, .unintelligible),
      (
        #"{"device_code": "D", "user_code": "\u001b[2J", "verification_uri": "https://a.example"}"#, 200,
        .unintelligible
      ),
      (good(#", "expires_in": 0"#), 200, .lifetime),
      (#"{"error": "invalid_client"}"#, 400, .refused(TokenErrorReply(error: "invalid_client"))),
      (#"{"error": "invalid_client"}"#, 200, .refused(TokenErrorReply(error: "invalid_client"))),
    ] as [(String, Int, TokenFailure.Cause)])
  func `an answer without usable codes is a failure`(json: String, status: Int, cause: TokenFailure.Cause) {
    #expect(throws: TokenFailure(cause, status: status)) { try Self.reply(json, status: status) }
  }

  /// A provider's answer to one poll.
  enum Answer: Sendable {
    case error(String, status: Int = 400, retryAfter: Int64? = nil)
    case other(TokenFailure.Cause, status: Int = 200)
    case none
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var answers: [Answer]
    var waits: [Int64]
    var end: DevicePolling.Action?
    var expiresIn: Int64 = 900
    var interval: Int64 = 5
    var testDescription: String { name }
  }

  private static func refused(_ error: String, _ status: Int = 400) -> DevicePolling.Action {
    .refused(TokenFailure(.refused(TokenErrorReply(error: error)), status: status))
  }

  private static let (pending, slowDown) = (Answer.error("authorization_pending"), Answer.error("slow_down"))

  static let rows: [Row] = [
    Row(
      name: "pending, then slower and slower", answers: [pending, slowDown, pending, slowDown],
      waits: [5, 5, 10, 10, 15]),
    Row(name: "the provider's interval", answers: [pending, slowDown], waits: [7, 7, 12], interval: 7),
    Row(name: "pending with status 200", answers: [.error("authorization_pending", status: 200)], waits: [5, 5]),
    Row(name: "expired", answers: [.error("expired_token")], waits: [5], end: .expired),
    Row(name: "expired, in another word", answers: [.error("code_expired")], waits: [5], end: .expired),
    Row(name: "declined", answers: [.error("authorization_declined")], waits: [5], end: .declined),
    Row(name: "denied, with status 200", answers: [.error("access_denied", status: 200)], waits: [5], end: .declined),
    Row(
      name: "a code nobody gave out", answers: [.error("bad_verification_code")], waits: [5],
      end: refused("bad_verification_code")),
    Row(
      name: "an application refused", answers: [.error("invalid_client", status: 401)], waits: [5],
      end: refused("invalid_client", 401)),
    Row(name: "a device policy", answers: [.error("invalid_grant")], waits: [5], end: refused("invalid_grant")),
    Row(name: "no answer: less often from then on", answers: [.none, .none, pending], waits: [5, 10, 20, 20]),
    Row(
      name: "never rarer than a minute", answers: [.none, .none, .none, .none], waits: [20, 40, 60, 60, 60],
      interval: 20),
    Row(name: "a rarer interval stays", answers: [.none], waits: [90, 90], interval: 90),
    Row(name: "a busy provider", answers: [.error("slow_down", status: 503)], waits: [5, 10]),
    Row(
      name: "a busy provider that says how long",
      answers: [.error("temporarily_unavailable", status: 429, retryAfter: 30)], waits: [5, 30]),
    Row(name: "a proxy's page", answers: [.other(.unintelligible, status: 502), pending], waits: [5, 10, 10]),
    Row(
      name: "a token that cannot be used: the code is spent", answers: [.other(.tokenType)], waits: [5],
      end: .refused(TokenFailure(.tokenType, status: 200))),
    Row(
      name: "the codes end by the clock", answers: [pending, pending], waits: [5, 5], end: .expired, expiresIn: 15),
    Row(name: "a second longer", answers: [pending, pending], waits: [5, 5, 5], expiresIn: 16),
    Row(name: "codes too short for one poll", answers: [], waits: [], end: .expired, expiresIn: 5),
  ]

  @Test(arguments: rows) func `device-slow-down: each answer says when to ask again, or that it is over`(row: Row)
    throws
  {
    let codes = try Self.reply(Self.good(#", "expires_in": \#(row.expiresIn), "interval": \#(row.interval)"#))
    var now = Self.now
    var polling = DevicePolling(codes, now: now)
    var waits: [Int64] = []
    var end: DevicePolling.Action?
    func take(_ action: DevicePolling.Action) {
      switch action {
      case .ask(let seconds):
        waits.append(seconds)
        now = now + seconds
      case .expired, .declined, .refused: end = action
      }
    }
    take(polling.begin(at: now))
    for answer in row.answers {
      try #require(end == nil)
      switch answer {
      case .error(let error, let status, let retryAfter):
        let failure = TokenFailure(.refused(TokenErrorReply(error: error)), status: status, retryAfter: retryAfter)
        take(polling.next(after: failure, now: now))
      case .other(let cause, let status): take(polling.next(after: TokenFailure(cause, status: status), now: now))
      case .none: take(polling.nextWithoutAnswer(now: now))
      }
    }
    #expect(waits == row.waits)
    #expect(end == row.end)
  }

  @Test func `device-poll-not-memoized: requests and polls are msal-python's, its duplicate of the code aside`() throws
  {
    let vector = try FlowVector("09-device-code")
    let scopes = try ScopeSet(["https://graph.microsoft.com/User.Read"])
    let begin = try #require(vector.calls[0].exchanges.first)
    let request = try #require(
      ProviderForm(
        deviceCodesFor: ClientAuthentication(vector.clientID, at: vector.metadata, nil), scopes: scopes, claims: nil))
    #expect(RecordedFlow.members(ofForm: request.body) == begin.form)
    #expect(request.endpoint.description == begin.url)
    let codes = try DeviceAuthorizationReply(
      ProviderAnswer(status: begin.status, body: begin.body), sent: .none, now: begin.at)
    #expect(codes.userCode == "ABCD")

    var polling = DevicePolling(codes, now: vector.calls[1].now)
    // msal-python's first poll comes at once; from there on the waits are the same.
    var due = vector.calls[1].now
    for exchange in vector.calls[1].exchanges {
      #expect(exchange.at == due)
      var form = exchange.form
      #expect(form.removeValue(forKey: "code") == "DC")
      let token = TokenRequest(
        ClientAuthentication(vector.clientID, at: vector.metadata, nil), grant: .deviceCode(codes.deviceCode),
        scopes: .none, claims: nil)
      #expect(RecordedFlow.members(ofForm: token.body) == form)
      do throws(TokenFailure) {
        let reply = try TokenReply(
          ProviderAnswer(status: exchange.status, body: exchange.body), sent: .none, now: exchange.at)
        #expect(reply.accessToken == Secret("AT"))
      } catch {
        guard case .ask(let seconds) = polling.next(after: error, now: exchange.at) else {
          Issue.record("the polling ended")
          return
        }
        due = exchange.at + seconds
      }
    }
    for (call, end) in [(4, DevicePolling.Action.expired), (5, .declined)] {
      let exchange = try #require(vector.calls[call - 1].exchanges.first)
      do throws(TokenFailure) {
        _ = try TokenReply(ProviderAnswer(status: exchange.status, body: exchange.body), sent: .none, now: exchange.at)
        Issue.record("no error in \(call)")
      } catch {
        #expect(polling.next(after: error, now: exchange.at) == end)
      }
    }
  }
}
