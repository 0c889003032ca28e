// The protocol's bytes: every type, in whole and in pieces, and what is none.

import Testing

@testable import Identity

@Suite struct RedisReplyTests {
  static func text(_ text: String) -> RedisReply { .text(Array(text.utf8)) }

  static let replies: [(bytes: String, reply: RedisReply)] = [
    ("+OK\r\n", text("OK")),
    ("$5\r\nhello\r\n", text("hello")),
    ("$0\r\n\r\n", text("")),
    ("$6\r\na\r\nb\r\n\r\n", text("a\r\nb\r\n")),
    ("$-1\r\n", .null),
    ("*-1\r\n", .null),
    ("_\r\n", .null),
    (":42\r\n", .integer(42)),
    (":-7\r\n", .integer(-7)),
    ("*0\r\n", .list([])),
    ("*3\r\n:1\r\n$-1\r\n*1\r\n+a\r\n", .list([.integer(1), .null, .list([text("a")])])),
    ("%1\r\n+server\r\n+redis\r\n", .list([text("server"), text("redis")])),
    ("~1\r\n:1\r\n", .list([.integer(1)])),
    (">1\r\n+invalidate\r\n", .list([text("invalidate")])),
    (",1.5\r\n", text("1.5")),
    ("#t\r\n", text("t")),
    ("=7\r\ntxt:abc\r\n", text("abc")),
    ("-WRONGPASS invalid username-password pair\r\n", .refusal("WRONGPASS")),
    ("!10\r\nNOPERM no!\r\n", .refusal("NOPERM")),
    // A refusal repeats what was sent: nothing of it is kept.
    ("-ERR unknown command 'AUTH', with args beginning with: 'user' 'password'\r\n", .refusal("ERR")),
    ("-s3cret stands first\r\n", .refusal("ERR")),
  ]

  private func read(_ bytes: ArraySlice<UInt8>) -> RedisReplyReader.Outcome {
    RedisReplyReader.read(Array(bytes).span)
  }

  @Test(arguments: replies)
  func `a reply is read when it is whole, and not before`(bytes: String, reply: RedisReply) {
    let all = Array(bytes.utf8)
    for count in 0..<all.count { #expect(read(all[..<count]) == .needsMore, "\(count)") }
    #expect(read(all[...]) == .reply(reply, count: all.count))
    #expect(read((all + Array("+next\r\n".utf8))[...]) == .reply(reply, count: all.count))
  }

  @Test(arguments: [
    "HTTP/1.1 400 Bad Request\r\n\r\n", "$-2\r\n", "$x\r\n", "$1\r\nab\r\n", ":1.5\r\n", "*99999999999\r\n", "+OK\rx",
    "\r\n", "$67108865\r\n", "%-1\r\n", String(repeating: "*1\r\n", count: 12),
  ])
  func `an impossible reply is refused at once`(bytes: String) {
    #expect(read(Array(bytes.utf8)[...]) == .invalid)
  }

  @Test func `whatever arrives is read without a trap`() {
    var generator = SystemRandomNumberGenerator()
    let alphabet = Array("*$+-:_%~>=!,#0123456789\r\nAb ".utf8)
    for _ in 0..<20_000 {
      let count = Int.random(in: 1...24, using: &generator)
      let bytes = (0..<count).compactMap { _ in alphabet.randomElement(using: &generator) }
      if case .reply(_, let used) = read(bytes[...]) { #expect((1...bytes.count).contains(used)) }
    }
  }

  @Test func `a command is a list of its words, whatever bytes they have`() {
    let command = RedisCommand("SET", [[0x61], [0x0D, 0x0A, 0x00, 0xFF]])
    #expect(command.bytes == Array("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$4\r\n\r\n".utf8) + [0x00, 0xFF, 0x0D, 0x0A])
  }
}
