internal import FoundationEssentials
internal import HTTPServer

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
  /// The body.
  package var body: Body
  /// A few words for the demonstration's log: never a token or a secret.
  package var note = ""

  /// A JSON document.
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
