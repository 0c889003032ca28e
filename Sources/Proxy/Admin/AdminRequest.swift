internal import HTTP
internal import HTTPServer
internal import Platform
internal import Routing

struct AdminRequest: Sendable {
  /// The path, without its query.
  var path: String
  var form: AdminForm
  /// True if every reason is requested.
  var isVerbose: Bool
  var level: String?
  var route: String?
  /// The program that a token is for, which the query names as `program`.
  var taker: TokenTaker
  /// GET or HEAD.
  var isRead: Bool
  var isPost: Bool
  /// The caller's proofs; a refusal if `Host` does not name the listener, or another site is behind the request.
  var caller: Result<AdminCaller, CallerRefusal>
  var token: String?

  init(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ peer: ServerPeer, _ callers: AdminCallers) {
    let parameters = bytes.extracting(head.target.query).text.split(separator: "&")
    path = bytes.extracting(head.target.path).text
    form = parameters.contains("format=json") ? .json : .text
    isVerbose = parameters.contains("verbose")
    func value(_ name: String) -> String? {
      parameters.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
    level = value("level")
    route = value("route")
    taker = TokenTaker.allCases.first { $0.name == value("program") } ?? .plain
    isRead = head.method == .get || head.method == .head
    isPost = head.method == .post
    caller = callers.judge(head, bytes, at: peer.address, peer.credentials, user: PeerCredentials.own.user)
    token = CallerRules.token(in: head, bytes)
  }
}

extension ServerResponse {
  static func text(_ status: Int, _ text: String) -> ServerResponse {
    admin(status, "text/plain; charset=utf-8", Array(text.utf8))
  }

  static func json(_ text: String) -> ServerResponse { admin(200, "application/json", Array(text.utf8)) }

  static func admin(_ status: Int, _ contentType: StaticString, _ body: [UInt8]) -> ServerResponse {
    ServerResponse(
      status: status, fields: [("Content-Type", "\(contentType)"), ("Cache-Control", "no-store")],
      content: .whole(body))
  }
}
