// Feeds arbitrary bytes to a caller's HTTP/2 session, behind a right preface. What must hold: a head is one request
// head of HTTP/1.1 or none, the content behind it has the framing that it announces and nothing follows it, and what
// comes out does not depend on how the bytes arrive.

import Bytes
import HTTP
import HTTP2

/// One input of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFrames(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  let whole = SessionOutcome(bytes, pieces: [bytes.count])
  let byteByByte = SessionOutcome(bytes, pieces: Array(1...max(bytes.count, 1)).filter { $0 <= bytes.count })
  // It is not defined up to which byte a broken session is read.
  if whole.goesOn, byteByByte.goesOn {
    precondition(whole.requests == byteByByte.requests, "\(whole) but byte by byte \(byteByByte)")
  }
  return 0
}

/// The outcome of a session's bytes.
struct SessionOutcome {
  private(set) var goesOn = true
  /// The requests by their streams: head and content in the form of HTTP/1.1.
  private(set) var requests: [Int32: [UInt8]] = [:]

  private static let limits = HeadLimits(headBytes: 2048, fieldCount: 16, targetBytes: 500)
  private static let preface = ConnectionPreface.bytes + [0, 0, 0, 4, 0, 0, 0, 0, 0]

  init(_ bytes: [UInt8], pieces: [Int]) {
    let session = CallerSession(SessionLimits(head: Self.limits, streams: 8, window: 4096))
    precondition(session.receive(Self.preface.span, at: 1), "the preface was refused")
    var streams: [SessionStream] = []
    var start = 0
    for end in pieces where goesOn {
      goesOn = session.receive(bytes.span.extracting(start..<end), at: 1)
      start = end
      session.takeChanges { stream, changes in if changes.contains(.began) { streams.append(stream) } }
      precondition(streams.count <= 8, "more streams than the limit")
    }
    for stream in streams {
      requests[stream.id] = Self.request(of: stream, session)
      var answer = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n".utf8)[...]
      while case .moved(let count) = answer.withUnsafeBytes({ session.give($0, to: stream) }) {
        answer = answer.dropFirst(count)
        if answer.isEmpty { break }
      }
    }
    var output = ByteBuffer(capacity: 1024)
    _ = session.write(to: &output, limit: 1 << 20)
    for stream in streams { session.finish(stream) }
    precondition(session.activeCount == 0, "a stream was not counted down")
    _ = session.write(to: &output, limit: 1 << 20)
  }

  private static func request(of stream: SessionStream, _ session: CallerSession) -> [UInt8] {
    var bytes = ByteBuffer(capacity: 1024)
    stream.takeHead(into: &bytes)
    if stream.isHeadTooLarge {
      precondition(bytes.isEmpty, "a head over the limit was kept")
      return []
    }
    var (content, space) = ([UInt8](), [UInt8](repeating: 0, count: 100))
    while case .moved(let count) = space.withUnsafeMutableBytes({ session.take(from: stream, into: $0) }) {
      content += space.prefix(count)
    }
    let head = bytes.withBytes { bytes in (0..<bytes.count).map { bytes[$0] } }
    check(head, content)
    return head + content
  }

  private static func check(_ bytes: [UInt8], _ content: [UInt8]) {
    var parser = RequestHeadParser()
    var head = RequestHead()
    guard case .complete(let byteCount) = parser.parse(bytes.span, into: &head, limits: HeadLimits()) else {
      return
    }
    precondition(byteCount == bytes.count, "bytes follow the head")
    guard let framing = try? BodyFraming.request(head, bytes.span) else { return }
    precondition(framing != .untilClose)
    var reader = ContentReader(framing)
    var trailers = TrailerParser()
    var rest = content[...]
    while true {
      let left = Array(rest)
      switch reader.next(left.span, &trailers, HeadLimits()) {
      case .needsMore(let consumed):
        precondition(consumed == left.count || reader.remaining == nil, "bytes were left")
        return
      case .data(let start, let count): rest = rest.dropFirst(start + count)
      case .lastChunk(let consumed): rest = rest.dropFirst(consumed)
      case .end(let consumed):
        precondition(consumed == left.count, "bytes follow the content")
        return
      case .invalid(let error):
        // Too many trailer fields for the parser, which the sender chose.
        if case .trailer = error { return }
        preconditionFailure("content in another framing: \(error)")
      }
    }
  }
}
