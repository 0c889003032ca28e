// The CPU time of the process while it waits: a wait that ends at once because something stays ready would use a whole
// processor, which no other test would notice.

import Bytes
import Glibc
import Platform
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct WaitingCostTests {
  private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" }
  private static func post(_ path: String, _ fields: String = "") -> String {
    "POST \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000000\r\n\(fields)\r\n"
  }

  /// Something that a caller, or an upstream asked for by its path, does before both do nothing: a request, the length
  /// of the content of 'x' that follows as far as it is taken, and whether the caller ends sending.
  private static let scenes: [(name: String, request: String, content: Int, endsSending: Bool)] = [
    ("nothing", "", 0, false), ("half a head", "GET / HT", 0, false), ("a silent upstream", get("/silent"), 0, false),
    ("a silent upstream, half-closed", get("/silent"), 0, true),
    ("a silent upstream, the next request behind", get("/silent") + get("/silent"), 0, false),
    ("half an answer", get("/half"), 0, false), ("half an answer, half-closed", get("/half"), 0, true),
    ("an answer that is not read", get("/flood"), 0, false),
    ("an answer that is not read, half-closed", get("/flood"), 0, true),
    ("content that is not read", post("/silent"), 100_000_000, false),
    ("content that does not come", post("/silent"), 10, false),
    ("content nobody asked for yet", post("/silent", "Expect: 100-continue\r\n"), 0, false),
    ("an early half of an answer", post("/half"), 100_000_000, false),
    ("an early half of an answer, half-closed", post("/half"), 10, true),
    ("an upstream that stops reading", post("/deaf"), 100_000_000, false),
  ]

  @Test(arguments: scenes, [false, true])
  func `waiting costs next to nothing`(
    _ scene: (name: String, request: String, content: Int, endsSending: Bool), isTLS: Bool
  ) async throws {
    try await wait(scene.request, content: scene.content, endsSending: scene.endsSending, isTLS: isTLS)
  }

  /// A part of a record, alone, behind half a head and behind a whole one.
  @Test(arguments: [("", [0x17, 0x03, 0x03]), ("GET / HT", [0x17, 0x03, 0x03]), (get("/silent"), [0x17, 0x03])])
  func `waiting for the rest of a TLS record costs next to nothing`(request: String, raw: [UInt8]) async throws {
    try await wait(request, raw: raw, isTLS: true)
  }

  /// Has a caller send a request, then raw bytes past TLS, then content; and nothing after that.
  private func wait(
    _ request: String, raw: [UInt8] = [], content: Int = 0, endsSending: Bool = false, isTLS: Bool
  ) async throws {
    let authority = try await TestSupport.CertificateAuthority()
    let certificate = try await authority.issue("server")
    let upstreamLoop = try EventLoop()
    let upstream = try LoopServer(on: upstreamLoop) { stream, _ in await Self.act(stream) }
    let proxy = try await ProxyUnderTest(
      """
      loops: 1
      listeners:
        - address: 127.0.0.1:PORT
        - address: 127.0.0.1:PORT2
          tls: { \(certificate.tls) }
      routes:
        - name: all
          path: /
          upstream: http://127.0.0.1:\(upstream.port)/
          token: none
      """)
    let context = try TLSContext.client(trustPath: authority.file)
    let spent = try await onLoop { loop in
      let waiter = Waiter(loop)
      let address = SocketAddress(.ipv4(0x7F00_0001, port: UInt16(proxy.ports[isTLS ? 1 : 0])))
      let channel = try await Connector.connect(to: [address], waiter: waiter, until: .now + .seconds(5))
      let caller = try ByteStream(
        channel, tls: isTLS ? context : nil, serverName: isTLS ? "localhost" : nil)
      try await caller.shakeHands()
      await caller.sendAll(request)
      if !raw.isEmpty { send(channel.descriptor, raw, raw.count, 0) }
      await Self.sendContent(content, on: caller, waiter)
      if endsSending { caller.closeWrite() }
      // The bytes that were sent are processed first, which takes time on a busy machine.
      var before = Duration.zero
      for _ in 0..<100 where proxy.process.processorTime != before {
        before = proxy.process.processorTime
        _ = await waiter.wait(until: .now + .milliseconds(200))
      }
      _ = await waiter.wait(until: .now + .milliseconds(500))
      let spent = proxy.process.processorTime - before
      caller.close()
      waiter.close()
      return spent
    }
    #expect(spent <= .milliseconds(50))
    #expect(proxy.process.poll() == nil)
  }

  /// Sends content for as long as the other side reads it.
  private static func sendContent(_ count: Int, on stream: ByteStream, _ waiter: Waiter) async {
    let piece = [UInt8](repeating: 0x78, count: 64 * 1024)
    var left = count
    while left > 0 {
      switch piece.withUnsafeBytes({ stream.send(UnsafeRawBufferPointer(rebasing: $0[..<min(left, piece.count)])) }) {
      case .moved(let count): left -= count
      case .wouldBlock:
        waiter.watch(stream.channel, stream.sendInterest)
        if await waiter.wait(until: .now + .milliseconds(200)) == .timedOut { return }
      case .endOfStream, .failed: return
      }
    }
  }

  /// The upstream's answer for a path, until the connection ends or a minute has passed.
  private static func act(_ stream: ByteStream) async {
    let head = await stream.receiveText(through: "\r\n\r\n")
    if head.contains(" /half") {
      await stream.sendAll("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
    } else if head.contains(" /flood") {
      await stream.sendAll("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
      let waiter = Waiter(stream.channel.loop)
      await sendContent(100_000_000, on: stream, waiter)
      waiter.close()
    } else if head.contains(" /deaf") {
      shutdown(stream.channel.descriptor, Int32(SHUT_RD))
    }
    let waiter = Waiter(stream.channel.loop)
    waiter.watch(stream.channel, .readClosed)
    _ = await waiter.wait(until: .now + .seconds(20))
    waiter.close()
  }

  @Test func `without a descriptor left it stays calm, and then serves again`() async throws {
    let directory = try TemporaryDirectory()
    let port = try freePort()
    let file = try directory.write(
      """
      loops: 1
      listeners: [{ address: "127.0.0.1:\(port)" }]
      log: { access: false }
      routes: [{ name: all, path: /, upstream: "http://127.0.0.1:1/", token: none }]
      """, to: "proxy.yaml")
    let proxy = try ChildProcess(
      "proxy", ["sh", "-c", "ulimit -n 40; exec '\(try binary())' run -c '\(file)'"], in: directory)
    // From the first moment on: after a restart, all callers come at once.
    var first: RawConnection?
    while first == nil, proxy.poll() == nil {
      do { first = try RawConnection(port: port) } catch {}
    }
    var held = try (0..<60).map { _ in try RawConnection(port: port) }
    try await Task.sleep(for: .milliseconds(500))
    let before = proxy.processorTime
    try await Task.sleep(for: .milliseconds(500))
    #expect(proxy.processorTime - before <= .milliseconds(50))
    #expect(proxy.poll() == nil)
    held.removeAll()
    first = nil
    let caller = try RawConnection(port: port)
    try await caller.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    #expect(statusOf(try await caller.receive()) == 502)
  }
}
