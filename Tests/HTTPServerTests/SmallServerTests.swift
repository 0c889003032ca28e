// A small server's handling of requests byte by byte: framing, content, persistence, its limits and its end.

import Bytes
import HTTP
import HTTPServer
import Platform
import TestSupport
import Testing

/// Answers with what arrived: method, path and content.
private struct EchoHandler: RequestHandler {
  struct Request: Sendable {
    var method: String
    var path: String
  }

  func read(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, from peer: ServerPeer) -> RequestReading<Request> {
    let path = Self.text(bytes.extracting(head.target.path))
    let request = Request(method: Self.text(bytes.extracting(head.methodName)), path: path)
    switch path {
    case "/refused": return .refused(ServerResponse(status: 403, contentType: "text/plain", "no\n"))
    case "/digest": return .accepted(request, .digested)
    case "/unread": return .accepted(request, .unread)
    default: return .accepted(request, .kept(limit: 10))
    }
  }

  func answer(_ request: Request, _ content: ReceivedContent) async -> ServerResponse {
    let text =
      switch content {
      case .whole(let bytes): String(decoding: bytes, as: UTF8.self)
      case .digest(let count, let sha256): "\(count) \(sha256.prefix(2))"
      }
    if request.path == "/paced" {
      return ServerResponse(status: 200, content: .paced(count: 2, pause: .zero) { Array("piece \($0)".utf8) })
    }
    var response = ServerResponse(status: 200, contentType: "text/plain", "\(request.method) \(request.path) \(text)")
    response.isLast = request.path == "/last"
    return response
  }

  func refusal(_ status: Int) -> ServerResponse? {
    ServerResponse(status: status, contentType: "text/plain", "unreadable\n")
  }

  private static func text(_ bytes: Span<UInt8>) -> String {
    bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }
}

@Suite(.timeLimit(.minutes(2)))
struct SmallServerTests {
  /// A running server on a loop of its own.
  private struct Running {
    let server: SmallServer<EchoHandler>
    let port: Int
    let serving: Task<Bool, Never>

    init(_ change: (inout ServerLimits) -> Void = { _ in }) throws {
      let loop = try EventLoop()
      var limits = ServerLimits()
      change(&limits)
      let server = SmallServer(EchoHandler(), loop: loop, limits: limits)
      let socket = try BoundSocket.bind(SocketAddress(.ipv4(0x7F00_0001, port: 0)), count: 1)[0]
      self.server = server
      port = Int(socket.address.port)
      serving = Task(executorPreference: loop) {
        defer { socket.close() }
        do throws(SystemError) {
          if case .stopped = await server.serve(try Listener(socket, loop: loop)) { return true }
        } catch {}
        return false
      }
    }

    /// All that one connection brings when these bytes are sent at once.
    func exchange(_ text: String) async throws -> String {
      let connection = try RawConnection(port: port)
      try await connection.send(text)
      connection.finishSending()
      return try await connection.receive()
    }

    func stop() async {
      server.stop()
      #expect(await serving.value)
    }
  }

  private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n" }

  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    var testDescription: String { name }
    let request: String
    /// The end of the answers.
    let end: String
    /// Status lines.
    var statuses = [200]
  }

  static let rows: [Row] = [
    Row(name: "GET", request: get("/a"), end: "\r\n\r\nGET /a "),
    Row(name: "two on one connection", request: get("/a") + get("/b"), end: "GET /b ", statuses: [200, 200]),
    Row(name: "HEAD has no content", request: "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n", end: "Content-Length: 8\r\n\r\n"),
    Row(
      name: "content of a known length", request: "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
      end: "POST /a abc"),
    Row(
      name: "content in chunks, then another request",
      request: "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
        + get("/b"), end: "GET /b ", statuses: [200, 200]),
    Row(
      name: "100 is sent before the content",
      request: "POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx", end: "POST /a x",
      statuses: [100, 200]),
    Row(
      name: "more content than is kept",
      request: "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\nabcdefghijk", end: "unreadable\n",
      statuses: [413]),
    Row(
      name: "content of any size is digested",
      request: "PUT /digest HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\nabcdefghijk",
      end: "PUT /digest 11 [202, 47]"),
    Row(
      name: "content that is not read ends the connection",
      request: "POST /unread HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" + get("/b"),
      end: "Connection: close\r\n\r\nPOST /unread "),
    Row(
      name: "so does content whose end cannot be told, where none is read",
      request: "POST /unread HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n",
      end: "Connection: close\r\n\r\nPOST /unread "),
    Row(
      name: "what the handler refuses ends the connection", request: get("/refused") + get("/b"),
      end: "Connection: close\r\n\r\nno\n", statuses: [403]),
    Row(name: "no HTTP", request: "nothing of the kind\r\n\r\n", end: "unreadable\n", statuses: [400]),
    Row(
      name: "two on one connection of HTTP/1.0, which is told that it goes on",
      request: "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\nHEAD /b HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      end: "Connection: keep-alive\r\n\r\n", statuses: [200, 200]),
    Row(name: "pieces in chunks", request: get("/paced"), end: "\r\n\r\n7\r\npiece 0\r\n7\r\npiece 1\r\n0\r\n\r\n"),
    Row(
      name: "pieces until the end, to HTTP/1.0", request: "GET /paced HTTP/1.0\r\n\r\n",
      end: "Connection: close\r\n\r\npiece 0piece 1"),
  ]

  @Test(arguments: rows) func `a request is answered as its handler says`(row: Row) async throws {
    let running = try Running()
    let text = try await running.exchange(row.request)
    #expect(text.hasSuffix(row.end), "\(text)")
    #expect(text.matches(of: /HTTP\/1\.1 (\d{3})/).compactMap { Int($0.1) } == row.statuses, "\(text)")
    await running.stop()
  }

  @Test func `a server that keeps no connections closes each behind its answer`() async throws {
    let running = try Running { $0.keepsConnections = false }
    let text = try await running.exchange(Self.get("/a") + Self.get("/b"))
    #expect(text.hasSuffix("Connection: close\r\n\r\nGET /a "), "\(text)")
    await running.stop()
  }

  @Test func `at the limit, the connection that was idle longest is closed`() async throws {
    let running = try Running { $0.connections = 2 }
    let silent = try RawConnection(port: running.port)
    let heard = try RawConnection(port: running.port)
    try await heard.send(Self.get("/a"))
    #expect(try await heard.receive { $0.hasSuffix("GET /a ") }.hasSuffix("GET /a "))
    #expect(try await running.exchange(Self.get("/b")).hasSuffix("GET /b "))
    #expect(try await silent.isClosedByPeer())
    try await heard.send(Self.get("/c"))
    #expect(try await heard.receive { $0.hasSuffix("GET /c ") }.hasSuffix("GET /c "))
    await running.stop()
    #expect(try await heard.isClosedByPeer())
  }

  @Test func `an answer that is to be the last one ends the server, and every other connection`() async throws {
    let running = try Running()
    let other = try RawConnection(port: running.port)
    try await other.send(Self.get("/a"))
    #expect(try await other.receive { $0.hasSuffix("GET /a ") }.hasSuffix("GET /a "))
    #expect(try await running.exchange(Self.get("/last")).hasSuffix("GET /last "))
    #expect(await running.serving.value)
    #expect(try await other.isClosedByPeer())
  }

  @Test func `a silent caller is not waited for longer than the server's patience`() async throws {
    let running = try Running { $0.patience = .milliseconds(50) }
    let connection = try RawConnection(port: running.port)
    try await connection.send("GET /a HTTP/1.1\r\n")
    #expect(try await connection.isClosedByPeer())
    await running.stop()
  }
}
