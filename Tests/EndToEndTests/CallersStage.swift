// An issuer of callers' tokens that is also the provider which exchanges them, and an API that checks that each request
// carries what its own caller's token was exchanged for. Everything is in this process, so that thousands of callers
// are no burden.

import Bytes
import Platform
import Synchronization
import TestSupport
import Tokens

/// The beginning of a caller's `sub` decides the provider's answer:
///
/// | subject | the answer to an exchange |
/// |---|---|
/// | `claims` | 400 `interaction_required` with claims |
/// | `consent` | 400 `invalid_grant`, `consent_required` |
/// | `plain`, `mute` | a token, but to an exchange with claims 400 `interaction_required` with claims, or 503 |
/// | any other | `x.DIGEST.N`: the digest of the caller's token, and a number |
///
/// The API's `/api/claims` demands claims of every token that was exchanged without; `/api/never` of every token.
final class CallersStage: Sendable {
  private let issuer: FederatedIssuer
  private let loops: (provider: EventLoop, api: EventLoop)
  private let servers: (provider: LoopServer, api: LoopServer)
  private let record: Record

  final class Record: Sendable {
    /// The form of each token request.
    let forms = Locked<[String]>([])
    let exchanges = Atomic(0)
    /// The heads of requests to the API, as far as these are few.
    let heads = Locked<[String]>([])
    /// Requests to the API, and those with another's token, or the caller's own, or none.
    let requests = Atomic(0)
    let wrong = Atomic(0)
    /// Seconds that exchanged tokens live.
    let lifetime = Atomic(3600)
    /// Callers' tokens by their digest: whose they are.
    let subjects = Locked<[String: String]>([:])
  }

  /// The issuer and provider, as configurations name it.
  let name: String
  var upstream: String { "http://127.0.0.1:\(servers.api.port)/api/" }
  var exchanges: Int { record.exchanges.load(ordering: .relaxed) }
  var requests: Int { record.requests.load(ordering: .relaxed) }
  var wrong: Int { record.wrong.load(ordering: .relaxed) }
  var heads: [String] { record.heads.withLock { $0 } }
  var forms: [String] { record.forms.withLock { $0 } }
  func live(_ seconds: Int) { record.lifetime.store(seconds, ordering: .relaxed) }

  static let claims = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#

  init() throws {
    let record = Record()
    let loops = (try EventLoop(), try EventLoop())
    let port = try freePort()
    name = "http://127.0.0.1:\(port)"
    let issuer = try FederatedIssuer(name)
    let keys = issuer.keys.json.canonicalText()
    let metadata = #"{"issuer": "\#(name)", "token_endpoint": "\#(name)/token", "jwks_uri": "\#(name)/keys"}"#
    let provider = try LoopServer(
      on: loops.0, address: SocketAddress(.ipv4(0x7F00_0001, port: UInt16(port)))
    ) { stream, _ in
      await stream.serve { _, path, form in
        if path == "/token" { Self.answer(form, record) } else { Reply(path == "/keys" ? keys : metadata) }
      }
    }
    let api = try LoopServer(on: loops.1) { stream, _ in
      await stream.serve { head, path, _ in
        record.requests.add(1, ordering: .relaxed)
        record.heads.withLock { if $0.count < 100 { $0.append(head) } }
        let parts = (head.between("uthorization: Bearer ", "\r\n") ?? "").split(separator: ".").map(String.init)
        // Envoy writes names in lower case.
        let expected = head.between("aller: ", "\r\n") ?? ""
        if parts.count != 4 || parts[0] != "x" || parts[1] != expected { record.wrong.add(1, ordering: .relaxed) }
        let isEnough = !path.hasSuffix("/never") && (!path.hasSuffix("/claims") || parts.last == "proved")
        if isEnough { return Reply(parts.dropFirst(2).first ?? "none") }
        let claims = Base64.encode(Array(Self.claims.utf8))
        return Reply(
          "refused", status: "401 Unauthorized",
          "WWW-Authenticate: Bearer realm=\"api\", error=\"insufficient_claims\", claims=\"\(claims)\"\r\n"
            + "X-Trace: upstream\r\n")
      }
    }
    self.record = record
    self.issuer = issuer
    self.loops = loops
    servers = (provider, api)
  }

  /// A caller's token, and its digest in hexadecimal digits.
  func token(of subject: String, lifetime: Int64 = 3600) throws -> (token: String, digest: String) {
    let now = UnixTime.now
    let token = try issuer.signed(
      header: ["typ": .string("at+jwt")],
      claims: [
        "sub": .string(subject), "aud": .string("proxy"), "client_id": .string("app"),
      ], now: now + (lifetime - 3600))
    let digest = try Self.digest(token)
    record.subjects.withLock { $0[digest] = subject }
    return (token, digest)
  }

  private static func digest(_ token: String) throws -> String {
    try SHA256.digest(of: Array(token.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func answer(_ form: String, _ record: Record) -> Reply {
    record.forms.withLock { $0.append(form) }
    let text = "&\(form)&"
    let token = text.between("&subject_token=", "&") ?? text.between("&assertion=", "&") ?? ""
    let digest = (try? digest(token)) ?? ""
    guard let subject = record.subjects.withLock({ $0[digest] }) else {
      return Reply(#"{"error": "invalid_request"}"#, status: "400 Bad Request")
    }
    func refused(_ error: String, _ more: String) -> Reply {
      Reply(#"{"error": "\#(error)"\#(more)}"#, status: "400 Bad Request")
    }
    let claims = JSONValue.string(Self.claims).canonicalText()
    let asksForClaims = text.contains("&claims=")
    switch subject.prefix(while: { $0 != "-" }) {
    case "mute" where asksForClaims: return Reply("down", status: "503 Service Unavailable")
    case "plain" where !asksForClaims: break
    case "claims", "plain": return refused("interaction_required", #", "claims": \#(claims)"#)
    case "consent": return refused("invalid_grant", #", "suberror": "consent_required""#)
    default: break
    }
    let number = record.exchanges.add(1, ordering: .relaxed).newValue
    let proof = asksForClaims ? "proved" : "plain"
    let type = "urn:ietf:params:oauth:token-type:access_token"
    return Reply(
      #"""
      {"access_token": "x.\#(digest).\#(number).\#(proof)", "token_type": "Bearer", "issued_token_type": "\#(type)", \#
      "expires_in": \#(record.lifetime.load(ordering: .relaxed))}
      """#)
  }

  /// A configuration with a route to the API at `/api/`, for its callers.
  func configuration(top: String = "", token: String = "") -> String {
    """
    listeners:
      - address: "127.0.0.1:PORT"
        callers: {bearer: {authority: "\(name)", audiences: [proxy]}}
    \(top)
    applications:
      own: {authority: "\(name)", client_id: proxy, client_secret: "s3cret-of-the-proxy"}
    routes:
      - {name: api, path: /api/, upstream: "\(upstream)", application: own,
         token: {as: caller, scopes: [orders.read]\(token)}}

    """
  }
}

/// The answer of a server in this process.
struct Reply {
  let text: String

  /// `fields` end with a line break each.
  init(_ body: String, status: String = "200 OK", _ fields: String = "") {
    text =
      "HTTP/1.1 \(status)\r\n\(fields)Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
      + body
  }
}

extension ByteStream {
  /// Answers one request after the other, each known by its head, path and content.
  func serve(_ answer: (_ head: String, _ path: String, _ content: String) -> Reply) async {
    while true {
      let head = await receiveText(through: "\r\n\r\n")
      guard let path = head.split(separator: " ").dropFirst().first.map(String.init) else { return }
      // HAProxy and Envoy write names in lower case.
      let length = head.between("ontent-Length: ", "\r\n") ?? head.between("ontent-length: ", "\r\n")
      let content = await receiveAll(length.flatMap { Int($0) } ?? 0).bytes
      await sendAll(answer(head, path, String(decoding: content, as: UTF8.self)).text)
    }
  }
}
