// Texts that are JSON, texts that are not, and the place of the mistake.

import Bytes
import Testing

@Suite struct JSONReaderTests {
  static let right: [(String, JSONValue)] = [
    (" null ", .null), ("true", .bool(true)), ("false", .bool(false)), ("0", .integer(0)), ("-0", .integer(0)),
    ("-12", .integer(-12)), ("9223372036854775807", .integer(.max)), ("9223372036854775808", .number(0x1p63)),
    ("1.25", .number(1.25)), ("-1e2", .number(-100)), ("1E+2", .number(100)), ("1e-2", .number(0.01)),
    (#""""#, .string("")), (#""a\"b\\c\/d\b\f\n\r\t""#, .string("a\"b\\c/d\u{8}\u{C}\n\r\t")),
    (#""\u0041\u00e9\u20AC""#, .string("A\u{E9}\u{20AC}")), (#""\ud83d\ude00""#, .string("\u{1F600}")),
    (#""\ud83d""#, .string("\u{FFFD}")), (#""\ud83dx""#, .string("\u{FFFD}x")), (#""\ude00""#, .string("\u{FFFD}")),
    (#""\ud83d\u0041""#, .string("\u{FFFD}A")), ("\"\u{1F600}\u{E9}\"", .string("\u{1F600}\u{E9}")),
    ("\"\u{7F}\"", .string("\u{7F}")), ("[]", .array([])), ("[ 1 , [ ] ]", .array([.integer(1), .array([])])),
    ("{}", .object([:])), (#"{ "a" : 1 , "b" : { } }"#, .object(["a": .integer(1), "b": .object([:])])),
    (#"{"a": 1, "a": 2}"#, .object(["a": .integer(2)])), ("\t\r\n[\n]\n", .array([])),
  ]

  @Test(arguments: right)
  func `a text has a value`(text: String, value: JSONValue) throws {
    #expect(try JSONValue(text: Array(text.utf8)) == value)
  }

  static let wrong: [(String, JSONTextError.Problem, line: Int, column: Int)] = [
    ("", .end, 1, 1), ("  \n ", .end, 2, 2), ("nul", .end, 1, 4), ("nulL", .byte(0x4C), 1, 4),
    ("[1 2]", .byte(0x32), 1, 4),
    ("[1,]", .byte(0x5D), 1, 4), ("[", .end, 1, 2), ("{\"a\"", .end, 1, 5), ("{\"a\":\n  tru}", .byte(0x7D), 2, 6),
    ("{\"a\" 1}", .byte(0x31), 1, 6), ("{a: 1}", .byte(0x61), 1, 2), ("{\"a\": 1,}", .byte(0x7D), 1, 9),
    ("01", .trailing, 1, 2), ("1.", .end, 1, 3), (".5", .byte(0x2E), 1, 1), ("+1", .byte(0x2B), 1, 1),
    ("1e", .end, 1, 3),
    ("-", .end, 1, 2), ("-a", .byte(0x61), 1, 2), ("1e999", .number, 1, 6), ("NaN", .byte(0x4E), 1, 1),
    ("\"a", .end, 1, 3), ("\"a\nb\"", .byte(0x0A), 1, 3), ("\"\\x\"", .byte(0x78), 1, 3),
    ("\"\\u12g4\"", .byte(0x67), 1, 6),
    ("\"\\", .end, 1, 3), ("'a'", .byte(0x27), 1, 1), ("{} {}", .trailing, 1, 4), ("[]\n\n]", .trailing, 3, 1),
  ]

  @Test(arguments: wrong)
  func `an invalid text has the place of its first fault`(
    text: String, problem: JSONTextError.Problem, line: Int, column: Int
  ) {
    #expect(throws: JSONTextError(problem: problem, line: line, column: column)) {
      try JSONValue(text: Array(text.utf8))
    }
  }

  @Test(
    arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0xAF, 0x22], [0x22, 0x5C, 0x6E, 0xED, 0xA0, 0x80, 0x22]] as [[UInt8]])
  func `a string that is not UTF-8 is refused`(bytes: [UInt8]) {
    do throws(JSONTextError) {
      _ = try JSONValue(text: bytes)
      Issue.record("accepted")
    } catch {
      #expect(error.problem == .encoding)
    }
  }

  @Test func `values nest up to a limit`() throws {
    func nested(_ depth: Int) -> [UInt8] {
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    _ = try JSONValue(text: nested(JSONReader.depthLimit))
    #expect(throws: JSONTextError(problem: .depth, line: 1, column: JSONReader.depthLimit + 1)) {
      try JSONValue(text: nested(JSONReader.depthLimit + 1))
    }
  }

  @Test func `no beginning of a text is one itself, and a changed byte never does harm`() throws {
    let text = Array(#"{"a": [1, -2.5e3, "x\u00e9\\", true, null, {"b": {}}], "c": "\ud83d\ude00"}"#.utf8)
    _ = try JSONValue(text: text)
    for end in text.indices { #expect(JSONValue(json: Array(text[..<end])) == nil, "\(end)") }
    for index in text.indices {
      for byte in [0x00, 0x22, 0x2C, 0x5C, 0x7B, 0x7D, 0xFF] as [UInt8] {
        var changed = text
        changed[index] = byte
        guard let value = JSONValue(json: changed) else { continue }
        #expect(JSONValue(json: Array(value.canonicalText().utf8)) == value)
      }
    }
  }

  @Test(
    arguments: [
      (.object(["b": .integer(1), "a": .array([.null, .bool(true)])]), #"{"a":[null,true],"b":1}"#),
      (.string("\"\\/\n\t\r\u{1}\u{7F}\u{E9}\u{1F600}"), "\"\\\"\\\\/\\n\\t\\r\\u0001\\u007f\u{E9}\u{1F600}\""),
      (.array([]), "[]"), (.object([:]), "{}"), (.number(1.5), "1.5"), (.number(-100), "-100.0"),
    ] as [(JSONValue, String)])
  func `a value has one compact text`(value: JSONValue, text: String) {
    #expect(value.canonicalText() == text)
  }
}
