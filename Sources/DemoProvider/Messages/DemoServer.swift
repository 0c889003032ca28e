// Requests and answers of the services without their sockets, and the handler that carries them.

internal import Bytes
internal import HTTP
internal import HTTPServer
internal import Platform
internal import Tokens

/// A request, whole and small.
struct DemoRequest: Sendable {
  var method: String
  var path: String
  /// Without its question mark.
  var query = ""
  /// In order, names in lower case.
  var fields: [(name: String, value: String)] = []
  var body = ReceivedContent.whole([])

  subscript(field name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The number behind `name=` in the query.
  func number(_ name: String) -> Int? {
    query.split(separator: "&").first { $0.hasPrefix("\(name)=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
  }

  /// The form that was posted, or that the query is.
  func form() throws(Refusal) -> ReplyForm {
    try mapping(
      { (_: ReplyForm.Problem) in Refusal.malformed }, ReplyForm(method == "POST" ? body.bytes : Array(query.utf8)))
  }

  func postedForm() throws(Refusal) -> ReplyForm {
    guard method == "POST" else { throw .postOnly }
    return try form()
  }

  /// The form of one of the provider's own pages. A browser tells the form's origin; other programs have no cookies
  /// that another site could use.
  func ownForm(of origin: String) throws(Refusal) -> ReplyForm {
    if let from = self[field: "origin"], from != origin { throw .crossSite }
    if let site = self[field: "sec-fetch-site"], site != "same-origin" { throw .crossSite }
    return try postedForm()
  }
}

extension DemoRequest {
  fileprivate init(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) {
    let path = bytes.extracting(head.target.path).text
    self.init(
      method: bytes.extracting(head.methodName).text, path: path.isEmpty ? "/" : path,
      query: bytes.extracting(head.target.query).text)
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      fields.append((bytes.extracting(line.name).text.lowercased(), bytes.extracting(line.value).text))
    }
  }
}

extension ReplyForm {
  func required(_ name: String) throws(Refusal) -> String {
    guard let value = self[name] else { throw .missingParameter(name) }
    return value
  }

  /// The words of a parameter; none if it is absent.
  func words(_ name: String) -> [String] { (self[name] ?? "").split(separator: " ").map(String.init) }
}

/// An answer, and a few words for the demonstration's log: never a token or a secret.
struct DemoAnswer: Error {
  var response: ServerResponse
  var note = ""

  func adding(_ name: String, _ value: String?) -> DemoAnswer {
    var answer = self
    if let value { answer.response.fields.append((name, value)) }
    return answer
  }
}

extension DemoAnswer {
  init(_ document: Members, status: Int = 200, note: String = "") {
    var writer = JSONWriter(.indentedASCII)
    writer.append(JSONValue(document))
    let fields = [(name: "content-type", value: "application/json")]
    self.init(
      response: ServerResponse(status: status, fields: fields, content: .whole(writer.bytes + [0x0A])), note: note)
  }
}

/// Members of a JSON object. Those without a value are left out.
typealias Members = [String: (any JSONMember)?]

/// One finished exchange, for the demonstration's log.
package struct DemoExchange: Sendable {
  /// `provider`, `api` or `identity`.
  package let service: String
  package let method, path: String
  package let status: Int
  /// A few words about it: never a token or a secret.
  package let note: String

  package init(service: String, _ method: String, _ path: String, status: Int, note: String) {
    (self.service, self.method, self.path, self.status, self.note) = (service, method, path, status, note)
  }
}

/// A service, which answers requests at one address.
struct DemoService: RequestHandler {
  var name: String
  /// True for a request whose content is digested as it arrives, and may be of any size.
  var digests: @Sendable (DemoRequest) -> Bool = { _ in false }
  var log: @Sendable (DemoExchange) -> Void
  var answer: @Sendable (DemoRequest, _ now: UnixTime) -> DemoAnswer

  func read(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, from peer: ServerPeer
  ) -> RequestReading<DemoRequest> {
    let request = DemoRequest(head, bytes)
    return .accepted(request, digests(request) ? .digested : .kept(limit: 64 * 1024))
  }

  func answer(_ request: DemoRequest, _ content: ReceivedContent) async -> ServerResponse {
    var request = request
    request.body = content
    let answer = answer(request, UnixTime.now)
    log(DemoExchange(service: name, request.method, request.path, status: answer.response.status, note: answer.note))
    return answer.response
  }

  func refusal(_ status: Int) -> ServerResponse? {
    DemoAnswer(["error": "the request cannot be read"], status: status).response
  }
}
