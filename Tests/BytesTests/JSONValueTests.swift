// JSON whose members are not known beforehand.

import Bytes
import Testing

@Suite struct JSONValueTests {
  @Test(
    arguments: [
      ("null", .null), ("true", .bool(true)), ("1", .integer(1)), ("-9223372036854775808", .integer(.min)),
      ("1.5", .number(1.5)), ("\"1\"", .string("1")), ("[]", .array([])), ("{}", .object([:])),
      (
        "[1, \"a\", null, {\"b\": [false]}]",
        .array([.integer(1), .string("a"), .null, .object(["b": .array([.bool(false)])])])
      ),
    ] as [(String, JSONValue)])
  func `a text has a value and the value has that text again`(json: String, value: JSONValue) throws {
    let read = try #require(JSONValue(json: Array(json.utf8)))
    #expect(read == value)
    #expect(JSONValue(json: Array(read.canonicalText().utf8)) == value)
  }

  @Test func `a megabyte of brackets is refused, not followed down`() {
    #expect(JSONValue(json: Array(repeating: UInt8(ascii: "["), count: 1 << 20)) == nil)
    let depth = 100_000
    #expect(
      JSONValue(json: Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)) == nil)
  }

  @Test(arguments: ["", "{", "nul", "[1,]x", "{\"a\":1", "\u{1}"])
  func `text that is not JSON has no members`(json: String) {
    #expect(JSONValue(json: Array(json.utf8)) == nil)
  }

  @Test(
    arguments: [
      (.integer(7), 7), (.number(7.9), 7), (.number(-7.9), -7), (.string("7"), 7), (.string("7.9"), 7),
      (.string("x"), nil),
      (.number(1e300), nil), (.string("nan"), nil), (.null, nil), (.bool(true), nil),
    ] as [(JSONValue, Int64?)])
  func `seconds are numbers or strings of numbers`(value: JSONValue, seconds: Int64?) {
    #expect(value.seconds == seconds)
  }
}
