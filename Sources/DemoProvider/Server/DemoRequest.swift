internal import FoundationEssentials
internal import HTTP
internal import HTTPServer

/// A request as the rules of this module see it: whole, small, and without a socket.
struct DemoRequest: Sendable {
  var method: String
  var path: String
  /// Without its question mark.
  var query = ""
  /// In order, names in lower case.
  var fields: [(name: String, value: String)] = []
  var body = ReceivedContent.whole([])

  /// The first field of this lower-case name.
  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The number behind `name=` in the query, if there is one.
  func queryNumber(_ name: String) -> Int? {
    for pair in query.split(separator: "&") where pair.hasPrefix("\(name)=") {
      return Int(pair.dropFirst(name.count + 1))
    }
    return nil
  }
}

extension DemoRequest {
  init(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) {
    var fields: [(name: String, value: String)] = []
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      fields.append((Self.text(bytes.extracting(line.name)).lowercased(), Self.text(bytes.extracting(line.value))))
    }
    let path = Self.text(bytes.extracting(head.target.path))
    self.init(
      method: Self.text(bytes.extracting(head.methodName)), path: path.isEmpty ? "/" : path,
      query: Self.text(bytes.extracting(head.target.query)), fields: fields)
  }

  private static func text(_ bytes: Span<UInt8>) -> String {
    bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }
}

/// An answer as the rules of this module give it; the server sends it.
struct DemoAnswer: Sendable {
  enum Body: Sendable, Hashable {
    /// All of it.
    case whole([UInt8])
    /// Server-sent events, one after each pause.
    case ticks(count: Int, pause: Duration)
  }

  var status: Int
  /// The fields, names in lower case; framing fields are the server's.
  var fields: [(name: String, value: String)]
  var body: Body
  /// A few words for the demonstration's log: never a token or a secret.
  var note = ""

  init(status: Int, json document: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      body = try .whole(Array(encoder.encode(document)) + [0x0A])
    } catch {
      preconditionFailure("the documents of this module hold strings and whole numbers only")
    }
    self.status = status
    fields = [("content-type", "application/json")]
  }

  init(status: Int, _ page: Page) {
    self.status = status
    fields = page.fields.map { ("\($0.name)".lowercased(), $0.value) }
    body = .whole(page.html)
  }

  /// Sends the browser on by GET.
  init(seeOther location: String) {
    status = 303
    fields = [("location", location), ("referrer-policy", "no-referrer")]
    body = .whole([])
  }

  /// An event stream.
  init(ticks count: Int, pause: Duration) {
    status = 200
    fields = [("content-type", "text/event-stream"), ("cache-control", "no-store")]
    body = .ticks(count: count, pause: pause)
  }

  /// The answer with a few words for the demonstration's log.
  func noted(_ words: String) -> DemoAnswer {
    var answer = self
    answer.note = words
    return answer
  }

  /// The answer with further fields.
  func adding(_ more: [(name: String, value: String)]) -> DemoAnswer {
    var answer = self
    answer.fields += more
    return answer
  }

  /// The first field of this lower-case name.
  func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  var response: ServerResponse {
    switch body {
    case .whole(let bytes): ServerResponse(status: status, fields: fields, content: .whole(bytes))
    case .ticks(let count, let pause):
      ServerResponse(
        status: status, fields: fields,
        content: .paced(count: count, pause: pause) { Array("id: \($0 + 1)\ndata: {\"tick\": \($0 + 1)}\n\n".utf8) })
    }
  }
}
