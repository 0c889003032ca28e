// Content on its way through: every framing to every framing, cut at every byte, held back, broken off.

import Bytes
import Glibc
import HTTP
import Platform
import TestSupport
import Testing

@testable import Proxy

/// A pump between two connections over loopback, whose far ends the test holds. Confined to its loop.
private final class PumpRig {
  let source: (far: ByteStream, near: ByteStream)
  let sink: (near: ByteStream, far: ByteStream)
  var pump: BodyPump
  var input = ByteBuffer(capacity: 256)
  var output = ByteBuffer(capacity: 256)
  var trailers = TrailerParser()
  var kept = ByteBuffer(capacity: 1)
  private let waiter: Waiter

  init(_ loop: EventLoop, _ pump: BodyPump) async throws {
    let (first, second) = (try await connectedStreams(on: loop), try await connectedStreams(on: loop))
    source = (far: first.client, near: first.server)
    sink = (near: second.client, far: second.server)
    waiter = Waiter(loop)
    self.pump = pump
  }

  func step() -> BodyPump.Step {
    pump.step(from: source.near, &input, to: sink.near, &output, &trailers, HeadLimits(), keeping: &kept)
  }

  /// Waits for the source to have something, at most a few seconds.
  func waitForSource() async {
    waiter.watch(source.near.channel, source.near.receiveInterest)
    #expect(await waiter.wait(until: .now + .seconds(5)) == .ready)
  }

  /// Waits until the sink's far end has broken the connection off.
  func waitForSinkToEnd() async {
    waiter.watch(sink.near.channel, .hangUp)
    #expect(await waiter.wait(until: .now + .seconds(60)) == .ready)
  }

  /// Feeds the pieces one by one, each when the one before is used up, then the end, and runs the pump as far as it
  /// goes.
  func run(_ pieces: [[UInt8]], endsSource: Bool) async -> String {
    var rest = pieces[...]
    var hasEnded = false
    while true {
      switch step() {
      case .finished: return "finished"
      case .needsSink: return "needsSink"
      case .tookItsTurn: continue
      case .failed(let failure): return "\(failure)"
      case .needsSource:
        if let piece = rest.popFirst() {
          await source.far.sendAll(piece)
        } else if endsSource, !hasEnded {
          source.far.closeWrite()
          hasEnded = true
        } else {
          return "needsSource"
        }
        await waitForSource()
      }
    }
  }

  /// Runs the pump to the end of the content, while the far ends send and receive.
  func finish() async {
    while true {
      switch step() {
      case .needsSink: waiter.watch(sink.near.channel, sink.near.sendInterest)
      case .needsSource: waiter.watch(source.near.channel, source.near.receiveInterest)
      case .tookItsTurn: continue
      case .finished: return
      case .failed(let failure):
        Issue.record("\(failure)")
        return
      }
      guard await waiter.wait(until: .now + .seconds(60)) == .ready else {
        Issue.record("the far ends are stuck")
        return
      }
    }
  }

  /// Ends the near end of the sink and returns everything that arrived there.
  func arrived() async -> [UInt8] {
    sink.near.closeWrite()
    return await sink.far.receiveAll().bytes
  }

  func close() {
    for stream in [source.far, source.near, sink.near, sink.far] { stream.close() }
    waiter.close()
  }
}

@Suite(.timeLimit(.minutes(5)))
struct BodyPumpTests {
  /// Content as it comes and goes. `rest`, the end of `sent`, belongs to the next message.
  struct Row: Sendable, CustomTestStringConvertible {
    let framing: BodyFraming
    let writesChunks: Bool
    let sent, content, trailers, rest: String

    init(
      _ framing: BodyFraming, chunks: Bool = false, _ sent: String, _ content: String, trailers: String = "",
      rest: String = ""
    ) {
      (self.framing, writesChunks, self.content, self.trailers) = (framing, chunks, content, trailers)
      (self.sent, self.rest) = (sent + rest, rest)
    }

    var testDescription: String { "\(framing)\(writesChunks ? " to chunks" : ""): \(sent)" }
  }

  private static let hello = "5\r\nhello\r\n3;x=\"y\"\r\n, w\r\n4\r\norld\r\n0\r\n"
  private static let rows = [
    Row(.none, "", ""), Row(.fixed(0), "", ""), Row(.fixed(5), "hello", "hello", rest: "NEXT"),
    Row(.chunked, chunks: true, hello + "\r\n", "hello, world", rest: "NEXT"),
    Row(
      .chunked, chunks: true, hello + "X-Sum: 1\r\nContent-Length: 3\r\n\r\n", "hello, world",
      trailers: "X-Sum: 1\r\n", rest: "NEXT"),
    Row(.chunked, hello + "X-Sum: 1\r\n\r\n", "hello, world", rest: "NEXT"),
    Row(.untilClose, "hello, world", "hello, world"),
    Row(.untilClose, chunks: true, "hello, world", "hello, world"), Row(.untilClose, chunks: true, "", ""),
  ]

  @Test(arguments: rows, ["", "HEAD\r\n\r\n"])
  func `content arrives whole behind its head, wherever it is cut, and no byte of the next message with it`(
    row: Row, head: String
  ) async throws {
    let bytes = Array(row.sent.utf8)
    try await onLoop { loop in
      for cut in 0...bytes.count {
        let rig = try await PumpRig(loop, BodyPump(row.framing, writesChunks: row.writesChunks))
        rig.output.append(Array(head.utf8))
        let pieces = [bytes[..<cut], bytes[cut...]].filter { !$0.isEmpty }.map { Array($0) }
        #expect(await rig.run(pieces, endsSource: row.framing == .untilClose) == "finished")
        #expect(rig.pump.contentBytes == UInt64(row.content.utf8.count))
        // Bytes behind the message are read only as far as they came with it.
        #expect(row.rest.hasPrefix(rig.input.text))
        let arrived = String(decoding: await rig.arrived(), as: UTF8.self)
        rig.close()
        #expect(arrived.hasPrefix(head))
        let message = Array(arrived.utf8.dropFirst(head.utf8.count))
        let read = row.writesChunks ? try Self.unchunked(message) : (String(decoding: message, as: UTF8.self), "")
        #expect(read.0 == row.content, "cut at \(cut)")
        #expect(read.1 == row.trailers)
      }
    }
  }

  private static func trailer(_ error: String) -> String {
    "content(HTTP.ContentError.trailer(HTTP.TrailerError.\(error)))"
  }

  /// Content, and why it is not passed on; the source of content that is cut has ended.
  @Test(
    arguments: [
      (.fixed(9), "hello", "sourceEnded"), (.chunked, "5\r\nhel", "sourceEnded"),
      (.chunked, "1\r\nx\r\n", "sourceEnded"), (.chunked, "0\r\nX: ", "sourceEnded"),
      (.chunked, "hello", "content(HTTP.ContentError.chunk(HTTP.ChunkError.size))"),
      (.chunked, "1\r\nxy\r\n", "content(HTTP.ContentError.chunk(HTTP.ChunkError.dataEnd))"),
      (.chunked, "1\nx", "content(HTTP.ContentError.chunk(HTTP.ChunkError.lineEnd))"),
      // At the limit of 5 bytes.
      (.chunked, "5\r\nhello\r\n", "needsSource"),
      (.chunked, "5\r\nhello\r\n1\r\n!", "tooLarge"), (.chunked, "6\r\nhello!", "tooLarge"),
      (.chunked, "0\r\nno field\r\n\r\n", trailer("field(HTTP.FieldSyntaxError.name)")),
      (.chunked, "0\r\n" + String(repeating: "X: y\r\n", count: 200), trailer("field(HTTP.FieldSyntaxError.tooMany)")),
      (.chunked, "0\r\n" + String(repeating: "x", count: 40_000), trailer("tooLarge")),
    ] as [(BodyFraming, String, String)])
  func `a broken-off, malformed or oversized content has its own reason`(
    framing: BodyFraming, sent: String, expected: String
  ) async throws {
    try await onLoop { loop in
      let rig = try await PumpRig(loop, BodyPump(framing, writesChunks: framing == .chunked, limit: 5))
      #expect(await rig.run([Array(sent.utf8)], endsSource: expected == "sourceEnded") == expected)
      rig.close()
    }
  }

  @Test func `a source or sink that is reset says which of them it was`() async throws {
    try await onLoop { loop in
      let first = try await PumpRig(loop, BodyPump(.fixed(10), writesChunks: false))
      first.source.far.reset()
      await first.waitForSource()
      #expect(await first.run([], endsSource: false) == "source(Platform.StreamError.reset)")
      first.close()

      let second = try await PumpRig(loop, BodyPump(.fixed(10), writesChunks: false))
      second.sink.far.reset()
      await second.waitForSinkToEnd()
      #expect(await second.run([Array("hello".utf8)], endsSource: false) == "sink(Platform.StreamError.reset)")
      second.close()
    }
  }

  @Test(arguments: [(1, 64), (256, 64), (257, 16), (2048, 16), (2049, 4), (1_000_000, 4)])
  func `the more connections there are, the smaller is each one's buffer for content`(_ row: (Int, Int)) {
    #expect(BodyPump.bufferSize(connections: row.0) == row.1 * 1024)
  }

  @Test(arguments: [BodyFraming.fixed(4_000_000), .chunked, .untilClose], [true, false])
  func `a buffer for content grows to its size and no further`(_ framing: BodyFraming, _ writesChunks: Bool)
    async throws
  {
    try await onLoop { loop in
      let rig = try await PumpRig(loop, BodyPump(framing, writesChunks: writesChunks, bufferSize: 4096))
      // Chunk heads at all places of the buffer, and chunks of more than one.
      let isChunked = if case .chunked = framing { true } else { false }
      let chunk = Array("2345\r\n".utf8) + [UInt8](repeating: 0x61, count: 0x2345) + Array("\r\n".utf8)
      let sent =
        isChunked
        ? (0..<440).reduce(into: []) { all, _ in all += chunk } + Array("0\r\n\r\n".utf8)
        : [UInt8](repeating: 0x61, count: 4_000_000)
      let (source, sink) = (rig.source.far, rig.sink.far)
      async let feeding: Void = {
        _ = await source.sendAll(sent)
        source.closeWrite()
      }()
      async let drained = sink.receiveAll()
      await rig.finish()
      rig.sink.near.closeWrite()
      _ = await (feeding, drained)
      #expect(rig.input.capacity <= 8192)
      #expect(rig.output.capacity <= 16_384)
      rig.close()
    }
  }

  @Test(arguments: [true, false])
  func `a sink that does not take anything holds the source back, and little is kept meanwhile`(
    writesChunks: Bool
  ) async throws {
    try await onLoop { loop in
      let rig = try await PumpRig(loop, BodyPump(.fixed(40_000_000), writesChunks: writesChunks))
      let piece = [UInt8](repeating: 0x61, count: 40_000_000)
      let (source, sink) = (rig.source.far, rig.sink.far)
      async let feeding = source.sendAll(piece)
      // Full sockets on both sides, and a pump that says so.
      var steps = 0
      filling: while steps < 10_000 {
        steps += 1
        let before = rig.pump.contentBytes
        switch rig.step() {
        case .needsSource: await rig.waitForSource()
        case .tookItsTurn: break
        default: break filling
        }
        // No turn is much longer than a megabyte.
        #expect(rig.pump.contentBytes - before < 1_200_000)
      }
      #expect(steps < 10_000)
      #expect(rig.pump.contentBytes < 20_000_000)
      #expect(rig.input.capacity + rig.output.capacity <= 512 * 1024)
      // The sink takes everything again.
      async let drained = sink.receiveAll(40_000_000)
      await rig.finish()
      #expect(rig.pump.contentBytes == 40_000_000)
      #expect(rig.input.capacity + rig.output.capacity <= 512 * 1024)
      rig.sink.near.closeWrite()
      let arrived = await drained
      #expect(writesChunks ? arrived.bytes.count >= 40_000_000 : arrived.bytes == piece)
      #expect(await feeding == nil)
      rig.close()
    }
  }

  /// The content and the trailer section of a chunked message that is complete.
  private static func unchunked(_ message: [UInt8]) throws -> (String, String) {
    var decoder = ChunkedDecoder()
    var content: [UInt8] = []
    var rest = message[...]
    while true {
      let bytes = Array(rest)
      switch decoder.next(bytes.span) {
      case .data(let start, let count):
        content += bytes[start..<start + count]
        rest = rest.dropFirst(start + count)
      case .end(let consumed):
        let section = String(decoding: rest.dropFirst(consumed), as: UTF8.self)
        try #require(section.hasSuffix("\r\n"))
        return (String(decoding: content, as: UTF8.self), String(section.dropLast()))
      case .needsMore, .invalid:
        throw UnacceptableText(text: String(decoding: message, as: UTF8.self))
      }
    }
  }
}
