// A reader of whole request streams for the tests: heads, framing, chunks and trailers, as a server would read them. It
// makes no decisions of a proxy.

import HTTP

/// The end of reading a stream of requests.
enum StreamEnd: Equatable, CustomStringConvertible {
  /// It ends between two messages, or behind one after which the connection is closed.
  case clean
  /// It ends inside a message.
  case inside
  case refused(String)

  var description: String {
    switch self {
    case .clean: "clean"
    case .inside: "inside a message"
    case .refused(let reason): "refused: \(reason)"
    }
  }
}

/// Messages read before the end, and the end.
struct StreamReading: Equatable {
  var methods: [String] = []
  var bodies: [[UInt8]] = []
  var end = StreamEnd.clean

  init(requests stream: [UInt8], limits: HeadLimits = HeadLimits()) {
    var parser = RequestHeadParser()
    var head = RequestHead()
    var trailers = TrailerParser()
    var rest = stream[...]
    while !rest.isEmpty {
      let bytes = Array(rest)
      let headCount: Int
      switch parser.parse(bytes.span, into: &head, limits: limits) {
      case .needsMore:
        // Empty lines behind the last message are ignored.
        end = bytes.allSatisfy { $0 == 0x0D || $0 == 0x0A } && !methods.isEmpty ? .clean : .inside
        return
      case .invalid(let error):
        end = .refused("\(error)")
        return
      case .complete(let byteCount): headCount = byteCount
      }
      rest = rest.dropFirst(headCount)
      let framing: BodyFraming
      do {
        framing = try BodyFraming.request(head, bytes.span)
      } catch {
        end = .refused("\(error)")
        return
      }
      guard let body = Self.content(framing, &rest, &trailers, limits, &end) else { return }
      methods.append(String(decoding: bytes[head.methodName.indices], as: UTF8.self))
      bodies.append(body)
      if Persistence.after(request: head) == .close { return }
    }
  }

  private static func content(
    _ framing: BodyFraming, _ rest: inout ArraySlice<UInt8>, _ trailers: inout TrailerParser, _ limits: HeadLimits,
    _ end: inout StreamEnd
  ) -> [UInt8]? {
    var reader = ContentReader(framing)
    var body: [UInt8] = []
    while true {
      let bytes = Array(rest)
      switch reader.next(bytes.span, &trailers, limits) {
      case .needsMore:
        end = .inside
        return nil
      case .invalid(let error):
        end = .refused("\(error)")
        return nil
      case .data(let start, let count):
        body += bytes[start..<start + count]
        rest = rest.dropFirst(start + count)
      case .lastChunk(let consumed): rest = rest.dropFirst(consumed)
      case .end(let consumed):
        rest = rest.dropFirst(consumed)
        return body
      }
    }
  }
}
