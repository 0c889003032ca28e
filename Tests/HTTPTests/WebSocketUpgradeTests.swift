import Testing

@testable import HTTP

@Suite struct WebSocketUpgradeTests {
  @Test(arguments: [
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket", true),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, UPGRADE\r\nupgrade: WebSocket", true),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0", true),
    ("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket", false),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade", false),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c", false),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket, h2c", false),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: websocket", false),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket/13", false),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1", false),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nTransfer-Encoding: chunked", false),
    ("POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket", false),
    ("GET / HTTP/1.0\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket", false),
  ])
  func `a GET asks for a WebSocket and nothing else`(text: String, isAsked: Bool) throws {
    #expect(try self.isAsked(text + "\r\nSec-WebSocket-Key: a") == isAsked)
  }

  @Test(arguments: [
    ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", true), ("sec-websocket-key: a", true), ("", false),
    ("Sec-WebSocket-Key: ", false), ("Sec-WebSocket-Key: a\r\nSec-WebSocket-Key: a", false),
  ])
  func `a handshake has one key`(line: String, isAsked: Bool) throws {
    let asked = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket"
    #expect(try self.isAsked(line.isEmpty ? asked : asked + "\r\n" + line) == isAsked)
  }

  @Test func `the example of RFC 6455 has its proof, and others have another`() {
    let request = "GET / HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    let proof = Array("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".utf8)
    let acceptance = withRequest(request + "\r\n\r\n") { WebSocketUpgrade.acceptance(of: $0, $1) }
    #expect(acceptance == proof)
    let line = "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    for (lines, isProof) in [(line, true), ("", false), (line + line, false), (line.lowercased(), false)] {
      let proves = withResponse("HTTP/1.1 101 Switching Protocols\(lines)\r\n\r\n") {
        WebSocketUpgrade.proves(proof, $0, $1)
      }
      #expect(proves == isProof, "\(lines)")
    }
  }

  private func isAsked(_ text: String) throws -> Bool {
    try withRequest(text + "\r\n\r\n") { head, bytes in
      WebSocketUpgrade.isAsked(head, bytes, framing: try BodyFraming.request(head, bytes))
    }
  }

  @Test(arguments: [
    ("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket", true),
    ("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c", false),
    ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket", false),
    ("HTTP/1.1 200 OK\r\nConnection: Upgrade\r\nUpgrade: websocket", false),
    ("HTTP/1.0 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket", false),
  ])
  func `a 101 agrees to a WebSocket and nothing else`(text: String, isAgreed: Bool) {
    let agrees = withResponse(text + "\r\n\r\n") { WebSocketUpgrade.isAgreed($0, $1) }
    #expect(agrees == isAgreed)
  }
}
