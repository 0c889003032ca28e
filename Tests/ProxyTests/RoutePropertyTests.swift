// No spelling of a path leads out of its route, or past a more particular route, for any reader: stated over paths made by chance
// (always the same ones) and readers that share nothing with the code under test.

import HTTP
import Testing

@testable import Proxy

/// A way to take a path apart that some server has.
struct PathReader: Sendable, CustomTestStringConvertible {
  /// How often percent-encodings are decoded.
  var decodings: Int
  /// Whether that is done before the path is split, so that an encoded slash is a slash.
  var splitsLast: Bool
  var parameters: Parameters
  var mergesSlashes: Bool
  /// Whether the path ends where a query or a fragment shows in what was decoded.
  var endsAtQuery: Bool

  enum Parameters: CaseIterable { case kept, cutFirst, cutLast }

  var testDescription: String {
    "decodes \(decodings)×, splits \(splitsLast ? "last" : "first"), parameters \(parameters), merges \(mergesSlashes), "
      + "ends at a query \(endsAtQuery)"
  }

  static let all = [1, 2, 3, 100].flatMap { decodings in
    [false, true].flatMap { splitsLast in
      Parameters.allCases.flatMap { parameters in
        [false, true].flatMap { merges in
          [false, true].map {
            PathReader(
              decodings: decodings, splitsLast: splitsLast, parameters: parameters, mergesSlashes: merges,
              endsAtQuery: $0)
          }
        }
      }
    }
  }

  /// The segments it sees, dot segments resolved; nil where they climb above the root.
  func segments(_ path: String) -> [String]? {
    var text = path.replacing("\\", with: "/")
    if parameters == .cutFirst { text = Self.cut(text) }
    if splitsLast { text = decode(text).replacing("\\", with: "/") }
    if splitsLast, endsAtQuery { text = Self.end(text) }
    var segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    if !splitsLast { segments = segments.map(decode) }
    if !splitsLast, endsAtQuery, let last = segments.firstIndex(where: { Self.end($0) != $0 }) {
      segments = segments[..<last] + [Self.end(segments[last])]
    }
    if parameters == .cutLast { segments = segments.map(Self.cut) }
    if mergesSlashes { segments = segments.filter { !$0.isEmpty } }
    var resolved: [String] = []
    for segment in segments where segment != "." {
      if segment != ".." {
        resolved.append(segment)
      } else if resolved.popLast() == nil {
        return nil
      }
    }
    return resolved
  }

  /// Whether `segments` are at or below a prefix, which ends with a slash.
  func takes(_ segments: [String], for prefix: String) -> Bool {
    // The last one is empty for who keeps empty segments.
    guard var base = self.segments(prefix) else { return false }
    if !mergesSlashes { base.removeLast() }
    return segments.starts(with: base)
  }

  private func decode(_ text: String) -> String {
    var bytes = Array(text.utf8)
    for _ in 0..<decodings {
      var decoded: [UInt8] = []
      var rest = bytes[...]
      while let byte = rest.popFirst() {
        let digits = Array(rest.prefix(2))
        if byte == 0x25, digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
          let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
        {
          decoded.append(value)
          rest = rest.dropFirst(2)
        } else {
          decoded.append(byte)
        }
      }
      if decoded == bytes { break }
      bytes = decoded
    }
    // Every byte a scalar: what is no UTF-8 stays distinct.
    return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  private static func end(_ text: String) -> String { String(text.prefix { $0 != "?" && $0 != "#" }) }

  private static func cut(_ text: String) -> String {
    text.split(separator: "/", omittingEmptySubsequences: false).map { $0.prefix { $0 != ";" } }.joined(separator: "/")
  }
}

@Suite struct RoutePropertyTests {
  private static let prefixes = ["/", "/a/", "/a/b/", "/a/b/c@d/", "/e;f/", "/b/a/"]
  private static let pieces = [
    "/", "/", "/", "/", "a", "b", "a", "b", "c@d", "c%40d", "e;f", ".", "..", "%2e", "%2f", "%2F", "%252f", ";", "%3b",
    ";x=y", "%61",
    "%62", "%2561", "%25", "%5c", "//", "%25%2532e", "2f", "/../", "/./", "%20", "%C3%A9", "%3F",
    "%3fx", "%23", "%253f",
  ]

  private static func normalForm(_ path: String) -> [UInt8]? {
    var normal = ByteBuffer(capacity: 64)
    let bytes = Array(path.utf8)
    return switch NormalPath.normalise(bytes.span, into: &normal, removesEncodedSlashes: false) {
    case .refused: nil
    case .alreadyNormal: bytes
    case .written: Array(normal.text.utf8)
    }
  }

  /// What becomes of a path: its route, its normal form and what is forwarded; nil where it is refused.
  private static func outcome(_ path: String, in table: RouteTable) -> (
    route: Route, normal: String, forwarded: String
  )? {
    guard let form = normalForm(path) else { return nil }
    let bytes = Array(form)
    let host: [UInt8] = []
    let method = Array("GET".utf8)
    let match = table.match(host: host.span, path: bytes.span, method: method.span)
    guard case .route(let route) = match else { return nil }
    if form.count > route.path.count {
      let suffix = Array(form.dropFirst(route.path.count))
      if !NormalPath.staysBelow(suffix.span) { return nil }
    }
    var upstream = ByteBuffer(capacity: 64)
    route.appendUpstreamPath(for: bytes.span, to: &upstream)
    return (route, String(decoding: form, as: UTF8.self), upstream.text)
  }

  @Test(arguments: 1...10)
  func `no reader sees a path leave its route, or belong to a more particular one`(seed: UInt64) throws {
    let table = RouteTable(
      try Self.prefixes.enumerated().map { try Route($1, index: $0, upstream: "http://up.example/base/api/") })
    var state = seed
    var accepted = 0
    for _ in 0..<1500 {
      var path = "/"
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      for _ in 0..<Int(1 + state >> 33 % 9) {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        path += Self.pieces[Int(state >> 33) % Self.pieces.count]
      }
      guard let (route, normal, forwarded) = Self.outcome(path, in: table) else { continue }
      accepted += 1
      let prefix = String(decoding: route.path, as: UTF8.self)
      for reader in PathReader.all {
        // What was sent and what is forwarded are at or below the same prefix, and no longer one.
        for spelling in [path, normal] {
          let segments = reader.segments(spelling)
          let depth = reader.segments(prefix)?.count ?? 0
          #expect(
            segments.map { reader.takes($0, for: prefix) } == true, "\(spelling) \(prefix) \(reader.testDescription)")
          for other in Self.prefixes where (reader.segments(other)?.count ?? 0) > depth {
            #expect(
              segments.map { reader.takes($0, for: other) } != true,
              "\(spelling) \(prefix) \(other) \(reader.testDescription)")
          }
        }
        let upstream = reader.segments(forwarded)
        #expect(
          forwarded == "/base/api" || upstream.map { reader.takes($0, for: "/base/api/") } == true,
          "\(path) → \(forwarded) \(reader.testDescription)")
      }
    }
    #expect(accepted > 150)
  }
}
