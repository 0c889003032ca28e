// The CPU time of the process while it waits: a wait that ends at once because something stays ready would use a whole
// processor, which no other test would notice.

import Bytes
import Glibc
import Platform
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct WaitingCostTests {
  /// Something that a caller, or an upstream asked for by its path, does before both do nothing.
  struct Scene: Sendable, CustomTestStringConvertible {
    var name: String
    var isTLS = false
    var request = ""
    /// Raw bytes behind the request, past TLS.
    var raw: [UInt8] = []
    /// The length of the content of 'x' that follows, as far as it is taken.
    var content = 0
    var endsSending = false
    var testDescription: String { name }
  }

  private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" }
  private static func post(_ path: String, _ fields: String = "") -> String {
    "POST \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000000\r\n\(fields)\r\n"
  }

  private static let scenes = [
    Scene(name: "nothing"),
    Scene(name: "nothing, TLS", isTLS: true),
    Scene(name: "half a head", request: "GET / HT"),
    Scene(name: "half a head, TLS", isTLS: true, request: "GET / HT"),
    Scene(name: "a part of a TLS record", isTLS: true, raw: [0x17, 0x03, 0x03]),
    Scene(
      name: "a part of a TLS record behind half a head", isTLS: true, request: "GET / HT", raw: [0x17, 0x03, 0x03]),
    Scene(name: "a silent upstream", request: get("/silent")),
    Scene(name: "a silent upstream, TLS", isTLS: true, request: get("/silent")),
    Scene(name: "a silent upstream, half-closed", request: get("/silent"), endsSending: true),
    Scene(name: "a silent upstream, half-closed, TLS", isTLS: true, request: get("/silent"), endsSending: true),
    Scene(name: "a silent upstream, the next request behind", request: get("/silent") + get("/silent")),
    Scene(
      name: "a silent upstream, the next request behind, TLS", isTLS: true, request: get("/silent") + get("/silent")),
    Scene(
      name: "a silent upstream, a part of a record behind", isTLS: true, request: get("/silent"), raw: [0x17, 0x03]),
    Scene(name: "half an answer", request: get("/half")),
    Scene(name: "half an answer, half-closed", request: get("/half"), endsSending: true),
    Scene(name: "half an answer without end, TLS", isTLS: true, request: get("/half")),
    Scene(name: "an answer that is not read", request: get("/flood")),
    Scene(name: "an answer that is not read, TLS", isTLS: true, request: get("/flood")),
    Scene(name: "an answer that is not read, half-closed", request: get("/flood"), endsSending: true),
    Scene(name: "content that is not read", request: post("/silent"), content: 100_000_000),
    Scene(name: "content that is not read, TLS", isTLS: true, request: post("/silent"), content: 100_000_000),
    Scene(name: "content that does not come", request: post("/silent"), content: 10),
    Scene(name: "content that does not come, TLS", isTLS: true, request: post("/silent"), content: 10),
    Scene(name: "content nobody asked for yet", request: post("/silent", "Expect: 100-continue\r\n")),
    Scene(name: "an early half of an answer", request: post("/half"), content: 100_000_000),
    Scene(name: "an early half of an answer, half-closed", request: post("/half"), content: 10, endsSending: true),
    Scene(
      name: "an early half of an answer, half-closed, TLS", isTLS: true, request: post("/half"), content: 10,
      endsSending: true),
    Scene(name: "an upstream that stops reading", request: post("/deaf"), content: 100_000_000),
  ]

  @Test(arguments: scenes) func `waiting costs next to nothing`(scene: Scene) async throws {
    let directory = try TemporaryDirectory()
    let authority = try await TestSupport.CertificateAuthority(in: directory)
    let certificate = try await authority.issue("server")
    let upstreamLoop = try EventLoop()
    let upstream = try LoopServer(on: upstreamLoop) { stream, _ in await Self.act(stream) }
    let (port, tlsPort) = (try freePort(), try freePort())
    let proxy = try await ProxyUnderTest(
      in: directory, port: port,
      """
      loops: 1
      listeners:
        - address: 127.0.0.1:\(port)
        - address: 127.0.0.1:\(tlsPort)
          tls: { certificate_file: \(certificate.certificateFile), key_file: \(certificate.keyFile) }
      routes:
        - name: all
          path: /
          upstream: http://127.0.0.1:\(upstream.port)/
          token: none
      """)
    let context = try TLSContext.client(trustPath: authority.file)
    let spent = try await onLoop { loop in
      let waiter = Waiter(loop)
      let address = SocketAddress(.ipv4(0x7F00_0001, port: UInt16(scene.isTLS ? tlsPort : port)))
      let channel = try await Connector.connect(to: [address], waiter: waiter, until: .now + .seconds(5))
      let caller = try ByteStream(
        channel, tls: scene.isTLS ? context : nil, serverName: scene.isTLS ? "localhost" : nil)
      try await caller.shakeHands()
      await caller.sendAll(scene.request)
      if !scene.raw.isEmpty { send(channel.descriptor, scene.raw, scene.raw.count, 0) }
      await Self.sendContent(scene.content, on: caller, waiter)
      if scene.endsSending { caller.closeWrite() }
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
