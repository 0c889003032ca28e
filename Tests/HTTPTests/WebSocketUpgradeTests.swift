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
    let bytes = Array((text + "\r\n\r\n").utf8)
    var parser = RequestHeadParser()
    var head = RequestHead(fieldCapacity: 8)
    guard case .complete = parser.parse(bytes.span, into: &head, limits: HeadLimits()) else {
      Issue.record("not a head")
      return
    }
    let framing = try BodyFraming.request(head, bytes.span)
    #expect(WebSocketUpgrade.isAsked(head, bytes.span, framing: framing) == isAsked)
  }

  @Test(arguments: [
    ("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket", true),
    ("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c", false),
    ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket", false),
    ("HTTP/1.1 200 OK\r\nConnection: Upgrade\r\nUpgrade: websocket", false),
    ("HTTP/1.0 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket", false),
  ])
  func `a 101 agrees to a WebSocket and nothing else`(text: String, isAgreed: Bool) {
    let bytes = Array((text + "\r\n\r\n").utf8)
    var parser = ResponseHeadParser()
    var head = ResponseHead(fieldCapacity: 8)
    guard case .complete = parser.parse(bytes.span, into: &head, limits: HeadLimits()) else {
      Issue.record("not a head")
      return
    }
    #expect(WebSocketUpgrade.isAgreed(head, bytes.span) == isAgreed)
  }
}
