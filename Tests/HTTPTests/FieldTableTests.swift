import HTTP
import Testing

@Suite struct FieldTableTests {
  @Test func `lines are found by name, in order, and counted`() {
    let bytes = Array("HTTP/1.1 200 OK\r\nVia: a\r\nX-Y: 1\r\nvia: b\r\nServer:c\r\nx-y: 2\r\n\r\n".utf8)
    var parser = ResponseHeadParser()
    var head = ResponseHead(fieldCapacity: 2)
    _ = parser.parse(bytes.span, into: &head, limits: HeadLimits())
    let first = head.fields.first(.via)
    let server = head.fields.first(.server)
    let host = head.fields.first(.host)
    #expect(head.fields.count == 5)
    #expect(first.map { text($0.value, bytes.span) } == "a" && first?.isPlain == true)
    #expect(server?.isPlain == false, "no space behind the colon")
    #expect(host?.name == nil)
    let present = [FieldName.via, .server, .other, .host].map { head.fields.contains($0) }
    #expect(present == [true, true, true, false])
    let counts = [FieldName.via, .other, .host].map { head.fields.count(of: $0) }
    #expect(counts == [2, 2, 0])
    let places = [0, 1, 3, 9].map { head.fields.index(of: .via, from: $0) }
    #expect(places == [0, 2, nil, nil])
    let named = ["x-y", "x-z"].map { head.fields.first(named: Array($0.utf8), in: bytes.span)?.value }
    #expect(named[0].map { text($0, bytes.span) } == "1" && named[1] == nil)
  }

  @Test(
    arguments: [
      ("A: b\r\n", true), ("A:b\r\n", false), ("A:\tb\r\n", false), ("A:  b\r\n", false), ("A: b \r\n", false),
      ("A: \r\n", true), ("A:\r\n", false),
    ])
  func `only a line with one space and nothing behind is plain`(line: String, isPlain: Bool) {
    let line = withResponse("HTTP/1.1 200 OK\r\n\(line)\r\n") { head, _ in head.fields[0] }
    #expect(line.isPlain == isPlain)
  }
}
