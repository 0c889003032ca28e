// Owns one connection of the admin listener: reading small requests, sending small answers.

internal import HTTP
internal import HTTPClient
internal import Network

/// What an admin request asks.
struct AdminRequest {
  /// The path, without its query.
  var path: String
  /// How the answer is to look.
  var form: AdminForm
  /// What `level` says in the query, if anything.
  var level: String?
  /// GET or HEAD.
  var isRead: Bool
  /// HEAD.
  var isHead: Bool
  /// POST.
  var isPost: Bool
  /// What the caller has shown; a refusal where `Host` does not name the listener, or another site is behind the request.
  var caller: Result<AdminCaller, CallerRefusal>
  /// The caller's own bearer token.
  var token: String?
  /// Whether the connection can go on.
  var keepsConnection: Bool
}

/// What is answered.
struct AdminAnswer {
  var status: Int
  var contentType: StaticString
  var body: [UInt8]

  static func text(_ status: Int, _ text: String) -> AdminAnswer {
    AdminAnswer(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
  }

  static func json(_ text: String) -> AdminAnswer {
    AdminAnswer(status: 200, contentType: "application/json", body: Array(text.utf8))
  }
}

/// A probe's or scraper's connection. Confined to its loop.
final class AdminConnection {
  private let stream: ByteStream
  private let waiter: Waiter
  private let peer: AdminPeer
  private var input = ByteBuffer(capacity: 2048)
  private var parser = RequestHeadParser(fieldCapacity: 32)

  private static let limits = HeadLimits(headBytes: 8192, fieldCount: 64, targetBytes: 1024)
  private static let patience = TimeSpan.seconds(30)

  init(_ channel: Channel, _ peer: AdminPeer) throws(StreamError) {
    self.peer = peer
    stream = try ByteStream(channel)
    waiter = Waiter(channel.loop)
  }

  /// The next request; `nil` where there is none, or none that can be answered.
  func nextRequest(_ callers: AdminCallers) async -> AdminRequest? {
    let deadline = waiter.loop.now + Self.patience
    parser.reset()
    while true {
      switch input.withBytes({ parser.parse($0, limits: Self.limits) }) {
      case .invalid: return nil
      case .complete(let byteCount):
        let request = input.withBytes { self.request($0, callers) }
        input.consume(byteCount)
        return request
      case .needsMore: break
      }
      input.reserve(1024)
      switch input.receive(from: stream) {
      case .moved: continue
      case .endOfStream, .failed: return nil
      case .wouldBlock:
        waiter.watch(stream.channel, stream.receiveInterest)
        if await waiter.wait(until: deadline) == .timedOut { return nil }
      }
    }
  }

  private func request(_ bytes: Span<UInt8>, _ callers: AdminCallers) -> AdminRequest {
    // A request with content is answered and its connection closed: nothing here reads content.
    let hasContent = parser.head.fields.contains(.contentLength) || parser.head.fields.contains(.transferEncoding)
    let query = bytes.extracting(parser.head.target.query).text
    let parameters = query.split(separator: "&")
    return AdminRequest(
      path: bytes.extracting(parser.head.target.path).text,
      form: parameters.contains("format=json") ? .json : .text,
      level: parameters.first { $0.hasPrefix("level=") }.map { String($0.dropFirst(6)) },
      isRead: parser.head.method == .get || parser.head.method == .head, isHead: parser.head.method == .head,
      isPost: parser.head.method == .post,
      caller: callers.judge(parser.head, bytes, from: peer), token: CallerRules.token(in: parser.head, bytes),
      keepsConnection: Persistence.after(request: parser.head) == .keepAlive && !hasContent)
  }

  /// Sends an answer; whether the connection can go on.
  func send(_ answer: AdminAnswer, _ request: AdminRequest) async -> Bool {
    var output = ByteBuffer(capacity: 512 + answer.body.count)
    HeadWriter.statusLine(answer.status, into: &output)
    HeadWriter.field("Content-Type", answer.contentType, into: &output)
    HeadWriter.field("Content-Length", decimal: UInt64(answer.body.count), into: &output)
    HeadWriter.field("Cache-Control", "no-store", into: &output)
    if !request.keepsConnection { HeadWriter.field("Connection", "close", into: &output) }
    HeadWriter.end(into: &output)
    if !request.isHead { output.append(answer.body) }
    let deadline = waiter.loop.now + Self.patience
    while !output.isEmpty {
      switch output.send(to: stream) {
      case .moved: continue
      case .endOfStream, .failed: return false
      case .wouldBlock:
        waiter.watch(stream.channel, stream.sendInterest)
        if await waiter.wait(until: deadline) == .timedOut { return false }
      }
    }
    return request.keepsConnection
  }

  /// Ends it, whatever it is waiting for.
  func abandon() {
    stream.reset()
    waiter.signal()
  }

  func close() {
    stream.close()
    waiter.close()
  }
}
