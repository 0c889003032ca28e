// The tree that YAML text becomes, and what is said of text that becomes none.

import Testing

@testable import Configuration

@Suite struct `YAML trees` {
  @Test func `places count lines and characters from one`() throws {
    var issues: [ConfigurationIssue] = []
    let text = "é: 1\nlist:\n  - a\n  - {key: 'q: x'}\n"
    let root = try #require(YAMLNode.read(Array(text.utf8), file: "f", issues: &issues))
    #expect(issues.isEmpty)
    #expect(outline(root) == "{é@1:1=1@1:4, list@2:1=[a@3:5, {key@4:6=q: x@4:11}@4:5]@3:3}@1:1")
  }

  @Test func `an anchor, an alias and a tag are refused with their place`() {
    #expect(refusals("a: &x 1") == ["f:1:4: error: anchor '&x': anchors, aliases and tags are not supported here"])
    #expect(
      refusals("a: !!str 1") == [
        "f:1:4: error: tag 'tag:yaml.org,2002:str': anchors, aliases and tags are not supported here"
      ])
    #expect(
      refusals("a: &x 1\nb: *x").last == "f:2:4: error: alias '*x': anchors, aliases and tags are not supported here")
  }

  static let refused: [(String, String)] = [
    ("", "f:1:1: error: the file is empty"),
    ("# nothing\n", "f:1:1: error: the file is empty"),
    ("a: 1\nb: 2\na: 3\n", "f:3:1: error: key 'a' is already on line 1; keep one"),
    ("a: 1\n---\nb: 2\n", "f:2:1: error: a second YAML document begins here; the configuration is one document"),
    ("[a]: 1\n", "f:1:1: error: a key must be a word"),
    ("a:\n\tb: 1\n", "f:2:1: error: YAML is indented with spaces; this is a tab"),
    ("a: 1\n\tb: 1\n", "f:2:1: error: YAML is indented with spaces; this is a tab"),
    ("a: [1, 2\nb: 3\n", "f:2:2: error: the list that begins with '[' on line 1 lacks a ',' or its ']' before this"),
    ("a: {b: 1\nc: 2\n", "f:2:2: error: the section that begins with '{' on line 1 lacks a ',' or its '}' before this"),
    ("a: 'b\n", "f:2:1: error: the quoted text that begins on line 1 has no closing quote"),
    (
      "a: 'it's'\n",
      "f:1:8: error: the value has ended before this: put all of it in quotes, and double a quote inside single ones"
    ),
    (
      "a:\n  b: 1\n c: 2\n",
      "f:3:2: error: this line is indented differently from the section that begins on line 1: align it with the "
        + "section's keys"
    ),
    (
      "a:\n  - 1\n  b: 2\n",
      "f:3:3: error: this line is in the list that begins on line 2 and is no element of it: begin it with '- ', "
        + "or indent it like the keys of its section"
    ),
    ("a: - b\n", "f:1:4: error: a list cannot begin behind its key: begin it on the next line, or write [a, b]"),
    (
      "a: b: c\n",
      "f:1:5: error: a ':' is not expected here: the line is indented too far, or its value contains ': ' and needs "
        + "quotes"
    ),
    ("a: @b\n", "f:1:4: error: a value cannot begin with this character: put it in quotes"),
    ("a: \"\\q\"\n", "f:1:5: error: YAML does not know this escape: double the backslash, or use single quotes"),
    ("a: *\n", "f:1:5: error: '*' and '&' have a meaning of their own in YAML: put the value in quotes"),
    (
      "  a: 1\nb: 2\n",
      "f:2:1: error: this line is indented less than the first one: begin all keys of the file in the same column"
    ),
    (
      "a: 1\nü: \u{1}\n",
      "f:2:4: error: not UTF-8 text: control characters are not allowed; save the file as UTF-8, without control "
        + "characters"
    ),
  ]

  @Test(arguments: refused)
  func `broken text is refused with its place`(text: String, expected: String) {
    #expect(refusals(text) == [expected])
  }

  @Test func `bytes that are not UTF-8 are refused with their place`() {
    var issues: [ConfigurationIssue] = []
    #expect(YAMLNode.read(Array("a: 1\nb: ".utf8) + [0xFF], file: "f", issues: &issues) == nil)
    #expect(
      issues.map(\.description) == [
        "f:2:4: error: not UTF-8 text: invalid leading UTF-8 octet; save the file as UTF-8, without control characters"
      ])
  }

  @Test func `text that nests without end and text without end are refused`() {
    #expect(refusals(String(repeating: "[", count: 50_000)) == ["f:1:33: error: nested deeper than 32 levels"])
    #expect(refusals("a: " + String(repeating: "x", count: 1 << 20)) == ["f:1:1: error: the file is larger than 1 MiB"])
  }

  private func refusals(_ text: String) -> [String] {
    var issues: [ConfigurationIssue] = []
    _ = YAMLNode.read(Array(text.utf8), file: "f", issues: &issues)
    return issues.map(\.description)
  }

  private func outline(_ node: YAMLNode) -> String {
    let at = "@\(node.place.line):\(node.place.column)"
    return switch node.content {
    case .scalar(let text): text + at
    case .empty: "~" + at
    case .sequence(let elements): "[" + elements.map(outline).joined(separator: ", ") + "]" + at
    case .mapping(let members):
      "{"
        + members.map { "\($0.key)@\($0.place.line):\($0.place.column)=" + outline($0.value) }
        .joined(separator: ", ") + "}" + at
    }
  }
}

@Suite struct `Nearest words` {
  static let cases: [(String, String?)] = [
    ("upstrem", "upstream"), ("hots", "host"), ("Host", "host"), ("tmieouts", "timeouts"), ("zebra", nil),
    ("upstream", nil), ("", nil),
  ]

  @Test(arguments: cases)
  func `a misspelt word finds the one that was meant`(word: String, expected: String?) {
    #expect(nearestWord(to: word, among: ["host", "hosts", "upstream", "timeouts"]) == expected)
  }
}
