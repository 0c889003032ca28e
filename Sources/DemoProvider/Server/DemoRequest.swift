internal import FoundationEssentials
internal import HTTP
package import HTTPServer

/// A request as the rules of this module see it: whole, small, and without a socket.
package struct DemoRequest: Sendable {
  /// The method, as sent.
  package var method: String
  /// The path, as sent.
  package var path: String
  /// The query without its question mark; empty where there is none.
  package var query: String
  /// The fields in order, names in lower case.
  package var fields: [(name: String, value: String)]
  package var body: ReceivedContent

  /// A request.
  package init(
    method: String, path: String, query: String = "", fields: [(name: String, value: String)] = [],
    body: ReceivedContent = .whole([])
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.fields = fields
    self.body = body
  }

  /// The first field of this lower-case name.
  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The number behind `name=` in the query, where there is one.
  func queryNumber(_ name: String) -> Int? {
    for pair in query.split(separator: "&") where pair.hasPrefix("\(name)=") {
      return Int(pair.dropFirst(name.count + 1))
    }
    return nil
  }
}

extension DemoRequest {
  /// Reads a head.
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
package struct DemoAnswer: Sendable {
  /// What follows the head.
  package enum Body: Sendable, Hashable {
    /// All of it.
    case whole([UInt8])
    /// Server-sent events, one after each pause.
    case ticks(count: Int, pause: Duration)
  }

  /// The status code.
  package var status: Int
  /// The fields, names in lower case; framing fields are the server's.
  package var fields: [(name: String, value: String)]
  package var body: Body
  /// A few words for the demonstration's log: never a token or a secret.
  package var note = ""

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

  /// A page.
  init(status: Int, html: [UInt8]) {
    self.status = status
    fields = [("content-type", Page.contentType)]
    body = .whole(html)
  }

  /// An event stream.
  init(ticks count: Int, pause: Duration) {
    status = 200
    fields = [("content-type", "text/event-stream"), ("cache-control", "no-store")]
    body = .ticks(count: count, pause: pause)
  }

  /// Event number `index` of an event stream.
  static func tick(_ index: Int) -> [UInt8] {
    Array("id: \(index)\ndata: {\"tick\": \(index)}\n\n".utf8)
  }

  /// The answer as it is sent.
  var response: ServerResponse {
    switch body {
    case .whole(let bytes): ServerResponse(status: status, fields: fields, content: .whole(bytes))
    case .ticks(let count, let pause):
      ServerResponse(
        status: status, fields: fields,
        content: .paced(count: count, pause: pause) { Self.tick($0 + 1) })
    }
  }
}
