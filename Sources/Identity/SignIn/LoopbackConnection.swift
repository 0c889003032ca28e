// Owns one connection of a browser on loopback: one request, one page. What is no request to this listener is sent away
// here.

internal import HTTP
internal import HTTPClient
internal import Network

/// A connection that carries one request.
final class LoopbackConnection {
  let waiter: Waiter
  private let stream: ByteStream
  private let port: UInt16
  private var input = ByteBuffer(capacity: 4096)
  private var parser = RequestHeadParser(fieldCapacity: 64)

  private static let limits = HeadLimits(headBytes: 32 * 1024, fieldCount: 100, targetBytes: 16 * 1024)
  /// Bytes of a posted answer at most.
  private static let bodyLimit: UInt64 = 64 * 1024
  private static let patience = TimeSpan.seconds(30)

  init(_ channel: Channel, port: UInt16) throws(StreamError) {
    stream = try ByteStream(channel)
    waiter = Waiter(channel.loop)
    self.port = port
  }

  /// The request; nil where there is none, or one that was answered here.
  func request() async -> LoopbackRequest? {
    let deadline = waiter.loop.now + Self.patience
    guard let length = await receiveHead(until: deadline) else { return nil }
    let arrival = input.withBytes { judge($0) }
    switch arrival {
    case .refused(let page):
      await send(page)
      return nil
    case .whole(let request):
      return request
    case .form(var request, let count):
      input.consume(length)
      while input.count < count {
        guard await receive(until: deadline) else { return nil }
      }
      request.form = input.withBytes { Self.copy($0.extracting(0..<count)) }
      return request
    }
  }

  private enum Arrival {
    case refused(LoopbackPage)
    case whole(LoopbackRequest)
    case form(LoopbackRequest, count: Int)
  }

  /// What the parsed head asks for. Pages of other sites reach this listener too; those that had their own name resolve
  /// to loopback show it in `Host`.
  private func judge(_ bytes: Span<UInt8>) -> Arrival {
    let head = bytes.extracting(parser.head.authority)
    guard let host = HostName(head), host.port == port,
      host.names(Array("localhost".utf8), in: head) || host.names(Array("127.0.0.1".utf8), in: head)
    else { return .refused(.foreign) }
    let path = String(decoding: Self.copy(bytes.extracting(parser.head.target.path)), as: UTF8.self)
    let query = Self.copy(bytes.extracting(parser.head.target.query))
    var request = LoopbackRequest(method: .get, path: path.isEmpty ? "/" : path, form: query)
    request.isAhead = ["sec-purpose", "purpose"].contains { value(of: $0, bytes) != nil }
    request.isFromOtherPage = value(of: "sec-fetch-site", bytes).map { $0 != "same-origin" } ?? false
    switch parser.head.method {
    case .get: return .whole(request)
    case .post:
      request.method = .post
      return form(request, bytes)
    default: return .refused(.method)
    }
  }

  private func value(of name: String, _ bytes: Span<UInt8>) -> String? {
    parser.head.fields.first(named: Array(name.utf8), in: bytes).map {
      String(decoding: Self.copy(bytes.extracting($0.value)), as: UTF8.self)
    }
  }

  private func form(_ request: LoopbackRequest, _ bytes: Span<UInt8>) -> Arrival {
    let type = parser.head.fields.first(.contentType).map { Self.copy(bytes.extracting($0.value)) } ?? []
    let media = String(decoding: type, as: UTF8.self).prefix { $0 != ";" }.lowercased()
    guard media.filter({ $0 != " " }) == "application/x-www-form-urlencoded" else { return .refused(.nothingHere) }
    do throws(FramingError) {
      guard case .fixed(let count) = try BodyFraming.request(parser.head, bytes), count <= Self.bodyLimit else {
        return .refused(.tooLarge)
      }
      return .form(request, count: Int(count))
    } catch {
      return .refused(.nothingHere)
    }
  }

  private static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
    bytes.withUnsafeBufferPointer { Array($0) }
  }

  /// The head's length; nil where none comes.
  private func receiveHead(until deadline: MonotonicTime) async -> Int? {
    while true {
      switch input.withBytes({ parser.parse($0, limits: Self.limits) }) {
      case .complete(let count): return count
      case .invalid:
        await send(.nothingHere)
        return nil
      case .needsMore:
        guard await receive(until: deadline) else { return nil }
      }
    }
  }

  private func receive(until deadline: MonotonicTime) async -> Bool {
    while true {
      input.reserve(4096)
      switch input.receive(from: stream) {
      case .moved: return true
      case .endOfStream, .failed: return false
      case .wouldBlock:
        waiter.watch(stream.channel, stream.receiveInterest)
        guard await waiter.wait(until: deadline) == .ready else { return false }
      }
    }
  }

  /// Sends a page, as far as the browser takes it.
  func send(_ page: LoopbackPage) async {
    var output = page.rendered()
    let deadline = waiter.loop.now + Self.patience
    while !output.isEmpty {
      switch output.withReadableBytes({ stream.send($0) }) {
      case .moved(let count): output.consume(count)
      case .endOfStream, .failed: return
      case .wouldBlock:
        waiter.watch(stream.channel, stream.sendInterest)
        guard await waiter.wait(until: deadline) == .ready else { return }
      }
    }
  }

  func close() {
    stream.close()
    waiter.close()
  }
}
