import Bytes

@testable import HTTP2

/// A session whose peer is frames written by hand, or the session at the other end.
class SessionFixture<Side: Session> {
  final let session: Side
  /// The streams that the peer has begun.
  private(set) final var streams: [Int32: SessionStream] = [:]
  private final var changes: [ObjectIdentifier: SessionStream.Changes] = [:]
  private(set) final var goesOn = true
  /// The time of the next bytes, in nanoseconds.
  final var now: UInt64 = 1_000_000_000

  init(_ session: Side) { self.session = session }

  @discardableResult
  final func feed(_ bytes: [UInt8]) -> Bool {
    goesOn = session.receive(bytes.span, at: now)
    note()
    return goesOn
  }

  private func note() {
    session.takeChanges { stream, changes in
      if changes.contains(.began) { self.streams[stream.id] = stream }
      self.changes[ObjectIdentifier(stream), default: []].formUnion(changes)
    }
  }

  /// Forgets a stream, as its owner does, and says which object it was.
  final func forget(_ id: Int32) -> ObjectIdentifier? { streams.removeValue(forKey: id).map(ObjectIdentifier.init) }

  /// The changes of a stream so far.
  final func changes(of stream: SessionStream?) -> SessionStream.Changes {
    stream.flatMap { changes[ObjectIdentifier($0)] } ?? []
  }

  /// The bytes that leave now.
  final func written(limit: Int = 1 << 24) -> [UInt8] {
    var output = ByteBuffer(capacity: 1024)
    _ = session.write(to: &output, limit: limit)
    note()
    return output.withBytes { bytes in (0..<bytes.count).map { bytes[$0] } }
  }

  /// The frames that leave now.
  final func sent(limit: Int = 1 << 24) -> [SentFrame] { SentFrame.all(written(limit: limit)) }

  final func give(_ text: String, _ stream: SessionStream) -> String {
    "\(Array(text.utf8).withUnsafeBytes { session.give($0, to: stream) })"
  }

  /// The bytes of a message that can be taken now, in pieces of so many bytes, and the result of the last attempt.
  final func take(_ stream: SessionStream, pieces: Int = 4096) -> (text: String, end: String) {
    var (text, space) = ([UInt8](), [UInt8](repeating: 0, count: pieces))
    while true {
      let move = space.withUnsafeMutableBytes { session.take(from: stream, into: $0) }
      guard case .moved(let count) = move else { return (String(decoding: text, as: UTF8.self), "\(move)") }
      text += space.prefix(count)
    }
  }
}

/// A caller's connection.
final class CallerFixture: SessionFixture<CallerSession> {
  init(_ limits: SessionLimits = SessionLimits()) {
    super.init(CallerSession(limits))
    feed(Frame.preface + Frame.settings + Frame.settingsAnswer)
    _ = sent()
  }

  func head(_ id: Int32) -> String? {
    var bytes = ByteBuffer(capacity: 64)
    guard let stream = streams[id] else { return nil }
    stream.takeHead(into: &bytes)
    return bytes.withBytes { bytes in String(decoding: (0..<bytes.count).map { bytes[$0] }, as: UTF8.self) }
  }

  func content(_ id: Int32, pieces: Int = 4096) -> (text: String, end: String) {
    streams[id].map { take($0, pieces: pieces) } ?? ("", "none")
  }

  func answer(_ id: Int32, _ text: String) -> String { streams[id].map { give(text, $0) } ?? "none" }
}

/// An upstream's connection. Without settings its peer is yet to say anything.
final class UpstreamFixture: SessionFixture<UpstreamSession> {
  init(_ limits: SessionLimits = SessionLimits(), settings: [UInt8]? = Frame.settings) {
    super.init(UpstreamSession(limits))
    guard let settings else { return }
    feed(settings + Frame.settingsAnswer)
    _ = written()
  }

  /// A request without content, or with the beginning of one.
  func request(_ text: String = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n") -> SessionStream {
    let stream = session.open()
    _ = give(text, stream)
    _ = sent()
    return stream
  }
}

/// Both ends of a connection in memory.
final class Pair {
  let upstream: UpstreamFixture
  let server: SessionFixture<CallerSession>

  init(_ limits: SessionLimits = SessionLimits()) {
    upstream = UpstreamFixture(limits, settings: nil)
    server = SessionFixture(CallerSession(limits))
  }

  /// Carries bytes until none are left.
  func run() {
    while true {
      let request = upstream.written()
      if !request.isEmpty { server.feed(request) }
      let answer = server.written()
      if request.isEmpty, answer.isEmpty { return }
      upstream.feed(answer)
    }
  }

  func request(_ id: Int32) -> String { server.streams[id].map { server.take($0).text } ?? "" }

  func answer(_ id: Int32, _ text: String) {
    if let stream = server.streams[id] { _ = server.give(text, stream) }
    run()
  }
}
