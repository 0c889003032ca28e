internal import HTTP
internal import HTTPServer
internal import Platform
internal import Routing

/// What an admin request asks.
struct AdminRequest: Sendable {
  /// The path, without its query.
  var path: String
  /// How the answer is to look.
  var form: AdminForm
  /// Whether every reason is wanted.
  var isVerbose: Bool
  /// What `level` says in the query, if anything.
  var level: String?
  /// GET or HEAD.
  var isRead: Bool
  var isPost: Bool
  /// What the caller has shown; a refusal where `Host` does not name the listener, or another site is behind the
  /// request.
  var caller: Result<AdminCaller, CallerRefusal>
  /// The caller's own bearer token.
  var token: String?

  /// Reads a head.
  init(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ peer: AdminPeer, _ callers: AdminCallers) {
    let parameters = bytes.extracting(head.target.query).text.split(separator: "&")
    path = bytes.extracting(head.target.path).text
    form = parameters.contains("format=json") ? .json : .text
    isVerbose = parameters.contains("verbose")
    level = parameters.first { $0.hasPrefix("level=") }.map { String($0.dropFirst(6)) }
    isRead = head.method == .get || head.method == .head
    isPost = head.method == .post
    caller = callers.judge(head, bytes, from: peer)
    token = CallerRules.token(in: head, bytes)
  }
}

extension ServerResponse {
  /// An answer of the admin listener in text.
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
