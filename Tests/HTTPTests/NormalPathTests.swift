import Bytes
import HTTP
import Testing

/// `=` if a path is its own normal form, else that form or the error.
private func normal(_ path: String) -> String {
  var buffer = ByteBuffer(capacity: 1)
  buffer.append("before")
  let bytes = Array(path.utf8)
  switch NormalPath.normalise(bytes.span, into: &buffer) {
  case .alreadyNormal:
    #expect(text(buffer) == "before")
    return "="
  case .written: return String(text(buffer).dropFirst(6))
  case .refused(let error):
    #expect(text(buffer) == "before")
    return "\(error)"
  }
}

@Suite struct NormalPathTests {
  static let rows: [(path: String, normal: String)] = [
    ("/", "="), ("", "/"), ("/a", "="), ("/a/b/c.d/", "="), ("/a;b=c/d", "="), ("/a.b/.c/..d/...", "="),
    ("/~user/-_.!$&'()*+,;=:@", "="), ("/a|b\"{}^`<>", "="),
    // Empty segments are segments.
    ("//", "="), ("///keeping", "="), ("/a//b", "="), ("//a/../b", "//b"),
    // Dot segments.
    ("/.", "/"), ("/./", "/"), ("/a/.", "/a/"), ("/a/./b", "/a/b"), ("/a/..", "/"), ("/a/../", "/"),
    ("/a/b/../c", "/a/c"), ("/a/b/../../c", "/c"), ("/a/./b/../c", "/a/c"),
    // Percent-encoded, they are the same.
    ("/%2e", "/"), ("/a/%2E%2e/b", "/b"), ("/a/.%2e/b", "/b"), ("/a/%2e/b", "/a/b"),
    // Unreserved characters are decoded, the rest is in capitals.
    ("/index%2ehtml", "/index.html"), ("/%41%7a%30%2D%5f%7E", "/Az0-_~"), ("/%c3%a9", "/%C3%A9"), ("/%C3%A9", "="),
    ("/a%20b%3F%23", "="), ("/a%3bb", "/a%3Bb"), ("/100%25", "="), ("/%2525", "="),
    // An encoded slash is data.
    ("/a%2fb", "/a%2Fb"), ("/a%2Fb", "="), ("/a%2Fb/../c;d=e", "/c;d=e"), ("/%2F", "="), ("/a%2Fb..c", "="),
    // Overlong and valid three- and four-byte sequences.
    ("/%E0%A0%80", "="), ("/%F0%90%80%80", "="), ("/%E0", "="),
    ("/%C0%AE", "overlong"), ("/%c1%9c", "overlong"), ("/%E0%80%AE", "overlong"), ("/%f0%80%80%ae", "overlong"),
    // Refused.
    ("a", "notAbsolute"), ("*", "notAbsolute"), ("%2Fa", "notAbsolute"),
    ("/..", "climbsAboveRoot"), ("/../a", "climbsAboveRoot"), ("/a/../../b", "climbsAboveRoot"),
    ("/a/%2e%2e/%2e%2e/b", "climbsAboveRoot"), ("/./..", "climbsAboveRoot"),
    ("/%", "percentEncoding"), ("/%2", "percentEncoding"), ("/%zz", "percentEncoding"), ("/%2g", "percentEncoding"),
    ("/%u002e", "percentEncoding"), ("/a%", "percentEncoding"), ("/%%32e", "percentEncoding"),
    ("/%00", "control"), ("/%0d%0a", "control"), ("/%1F", "control"), ("/%7f", "control"), ("/a?b", "control"),
    ("/a\\b", "backslash"), ("/a%5cb", "backslash"), ("/a%5Cb", "backslash"), ("/..\\..", "backslash"),
    ("/a/..%2fb", "hiddenDotSegment"), ("/a%2f..", "hiddenDotSegment"), ("/a%2F%2e%2E%2Fb", "hiddenDotSegment"),
    ("/a%2F.", "hiddenDotSegment"), ("/.%2Fa", "hiddenDotSegment"), ("/a%2F..;x/b", "hiddenDotSegment"),
    ("/..;/a", "hiddenDotSegment"), ("/a/..;x=y/b", "hiddenDotSegment"), ("/.;/a", "hiddenDotSegment"),
    ("/%2e%2e;/a", "hiddenDotSegment"), ("/..%3b/a", "hiddenDotSegment"), ("/..%3B", "hiddenDotSegment"),
    ("/a/;/../b", "hiddenDotSegment"), ("/a/%3Bx/../b", "hiddenDotSegment"), ("/a/%2F/../b", "hiddenDotSegment"),
    ("/..%3Fx", "hiddenDotSegment"), ("/a/..%3fx", "hiddenDotSegment"), ("/a/%2e%2e%23", "hiddenDotSegment"),
    ("/..%253Fx", "hiddenDotSegment"), ("/a%2F..%2523", "hiddenDotSegment"), ("/a%3F/../b", "hiddenDotSegment"),
    ("/a%23x/../b", "hiddenDotSegment"), ("/a%253F/../b", "hiddenDotSegment"), ("/a/b%3F..", "="),
    ("/a/%3F../b", "="),
    ("/a;x/../b", "/b"), ("/a//../b", "hiddenDotSegment"), ("//../b", "hiddenDotSegment"),
    ("/%252e%252e/a", "doubleEncoding"), ("/a%252fb", "doubleEncoding"), ("/a%255Cb", "doubleEncoding"),
    ("/%25252e", "doubleEncoding"), ("/%2525252F", "doubleEncoding"), ("/%25%32%65", "doubleEncoding"),
    ("/%25%32E", "doubleEncoding"), ("/..%253bx/a", "hiddenDotSegment"), ("/%2e%25253B", "hiddenDotSegment"),
    ("/a%253b", "="),
    // Percent signs that are encoded in places, down to a dot in the end.
    ("/%25%2532e/a", "doubleEncoding"), ("/a%25%2532f", "doubleEncoding"),
    ("/%25%2535c", "doubleEncoding"), ("/..%25%2533b/a", "hiddenDotSegment"), ("/..%2500/a", "hiddenDotSegment"),
    ("/%25C0%25AE", "overlong"), ("/%25E0%2580%25AE", "overlong"), ("/%25%E0%80%AE", "overlong"),
    ("/%25/..%2Fa", "hiddenDotSegment"), ("/%25a%2F../b", "hiddenDotSegment"), ("/100%25%20off", "="), ("/%25%25", "="),
    ("/a%2500", "="), ("/%25E0%25A4%25A4", "="),
  ]

  @Test(arguments: rows)
  func `a path has the one normal form or none`(path: String, expected: String) {
    #expect(normal(path) == expected)
  }

  @Test(arguments: [
    ("/a%2Fb/../c", false), ("/a%2f/..", false), ("/x/%2Fa/../b", false), ("/a%2Fb/./c", true), ("/a%2Fb/c/../d", true),
    ("/a/../b%2Fc", true), ("/a%3Bb/../c", true),
  ])
  func `a segment with an encoded slash is not removed if that changes the path`(path: String, isTaken: Bool) {
    var buffer = ByteBuffer(capacity: 1)
    let bytes = Array(path.utf8)
    let result = NormalPath.normalise(bytes.span, into: &buffer, removesEncodedSlashes: false)
    #expect((result != .refused(.hiddenDotSegment)) == isTaken)
  }

  /// Paths of all pieces that rules mention.
  private static func generated(_ count: Int, seed: UInt64) -> [String] {
    randomPaths(
      4000, of: count, seed: seed,
      [
        "/", "/", "/", ".", "..", "%2e", "%2E", "%2f", "%2F", "%5c", ";", "%3b", "a", "b%41", "%25", "2e", "25",
        "%c3%a9", "%C0%AE", "\\", "%", "x.y", "32", "35", "%25%2532e",
      ])
  }

  @Test(arguments: 1...12)
  func `a normal form is its own normal form and shows no dot segment to any reader`(count: Int) {
    var written = 0
    for path in Self.generated(count, seed: UInt64(count)) {
      let form = normal(path)
      if form.first != "/" && form != "=" { continue }
      let final = form == "=" ? path : form
      written += 1
      #expect(normal(final) == "=", "\(path) → \(final)")
      let segments = eagerSegments(Array(final.utf8))
      #expect(!segments.contains(".") && !segments.contains(".."), "\(path) → \(final)")
    }
    #expect(written > 0)
  }

  @Test(
    arguments: [
      ("", true), ("a", true), ("a/../b", true), ("./a", true), ("a/b/../../c", true), ("a%2Fb/../c;d=e", true),
      ("a/%2e%2E", true), ("..", false), ("../a", false), ("a/../../b", false), ("%2e%2e", false), ("a/../%2e.", false),
      ("a//../..", false), ("/..", false), ("a/../a/../..", false), ("...", true),
      ("%2f/..", false), ("%2Fa/..", true), (";x/..", false), ("%3b/..", false), ("a;/..", true),
      ("%25%2533b/..", false), ("%253bx/..", false), ("%2500/..", false),
    ])
  func `a suffix stays below its prefix whether or not slashes are merged`(suffix: String, expected: Bool) {
    let bytes = Array(suffix.utf8)
    #expect(NormalPath.staysBelow(bytes.span) == expected)
  }

  @Test(arguments: 1...12)
  func `a suffix that stays below does so for an eager reader too`(count: Int) {
    for path in Self.generated(count, seed: UInt64(count) + 100) {
      guard normal(path).first.map({ $0 == "/" || $0 == "=" }) == true else { continue }
      let suffix = Array(path.utf8.dropFirst())
      if !NormalPath.staysBelow(suffix.span) { continue }
      var depth = 0
      for segment in eagerSegments(Array(path.utf8)) where segment != "." {
        depth += segment == ".." ? -1 : 1
        #expect(depth >= 0, "\(path)")
      }
    }
  }
}
