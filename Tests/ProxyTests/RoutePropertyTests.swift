// No spelling of a path leads out of its route, or past a more particular route, for any reader: stated over paths made
// by chance (always the same ones) and readers that share nothing with the code under test.

import Bytes
import HTTP
import Testing

@testable import Proxy

/// A way to take a path apart that some server has.
struct PathReader: Sendable, CustomTestStringConvertible {
  /// The number of times that percent-encodings are decoded.
  var decodings: Int
  /// True if that is done before the path is split, so that an encoded slash is a slash.
  var splitsLast: Bool
  var parameters: Parameters
  var mergesSlashes: Bool
  /// True if the path ends at a query or a fragment in the decoded text.
  var endsAtQuery: Bool

  enum Parameters: CaseIterable { case kept, cutFirst, cutLast }

  var testDescription: String {
    "decodes \(decodings)×, splits \(splitsLast ? "last" : "first"), parameters \(parameters), merges "
      + "\(mergesSlashes), ends at a query \(endsAtQuery)"
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

  /// The segments it sees, dot segments resolved; nil if they climb above the root.
  func segments(_ path: [UInt8]) -> [[UInt8]]? {
    var text = Self.withoutBackslashes(path)
    if parameters == .cutFirst { text = Self.split(text).map(Self.cut).reduce(into: []) { $0 += [0x2F] + $1 } }
    if splitsLast { text = Self.withoutBackslashes(decode(text)) }
    if splitsLast, endsAtQuery { text = Self.end(text) }
    var segments = Self.split(text)
    if !splitsLast {
      segments = segments.map(decode)
      if endsAtQuery, let last = segments.firstIndex(where: { Self.end($0).count < $0.count }) {
        segments = segments[..<last] + [Self.end(segments[last])]
      }
    }
    if parameters == .cutLast { segments = segments.map(Self.cut) }
    var resolved: [[UInt8]] = []
    for segment in segments where segment != [0x2E] && !(mergesSlashes && segment.isEmpty) {
      if segment != [0x2E, 0x2E] {
        resolved.append(segment)
      } else if resolved.popLast() == nil {
        return nil
      }
    }
    return resolved
  }

  /// The segments that paths at or below a prefix begin with; the prefix ends with a slash.
  func base(_ prefix: String) -> [[UInt8]] {
    let segments = self.segments(Array(prefix.utf8)) ?? []
    // The last one is empty for a reader that keeps empty segments.
    return mergesSlashes ? segments : segments.dropLast()
  }

  /// Tells those readers that may see a text otherwise than the ones before them in `all`: another decoding changes it,
  /// or it has an end at a query.
  static func differing(about text: [UInt8]) -> (PathReader) -> Bool {
    let decoded = [1, 2, 3, 100].map { decode(text, $0) }
    let changing = [1] + zip([2, 3, 100], zip(decoded, decoded.dropFirst())).filter { $1.0 != $1.1 }.map(\.0)
    let hasEnd = end(decoded[3]).count < decoded[3].count
    return { changing.contains($0.decodings) && (hasEnd || !$0.endsAtQuery) }
  }

  private func decode(_ text: [UInt8]) -> [UInt8] { Self.decode(text, decodings) }

  private static func decode(_ text: [UInt8], _ count: Int) -> [UInt8] {
    var bytes = text
    for _ in 0..<count where bytes.contains(0x25) {
      var decoded: [UInt8] = []
      var index = 0
      while index < bytes.count {
        if bytes[index] == 0x25, index + 2 < bytes.count, let high = digit(bytes[index + 1]),
          let low = digit(bytes[index + 2])
        {
          decoded.append(high << 4 | low)
          index += 3
        } else {
          decoded.append(bytes[index])
          index += 1
        }
      }
      if decoded.count == bytes.count { break }
      bytes = decoded
    }
    return bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }

  private static func withoutBackslashes(_ text: [UInt8]) -> [UInt8] {
    text.contains(0x5C) ? text.map { $0 == 0x5C ? 0x2F : $0 } : text
  }

  /// The segments of a path, without the text before its first slash.
  private static func split(_ text: [UInt8]) -> [[UInt8]] {
    text.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false).map(Array.init)
  }

  private static func end(_ text: [UInt8]) -> [UInt8] {
    Array(text.prefix { $0 != 0x3F && $0 != 0x23 })
  }

  private static func cut(_ segment: [UInt8]) -> [UInt8] { Array(segment.prefix { $0 != 0x3B }) }
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

  /// The decision about a path: its route, its normal form and the forwarded path; nil if it is refused.
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
  func `no reader sees a path leave its route, or belong to a more particular one`(seed: UInt64) async throws {
    let table = RouteTable(
      try Self.prefixes.enumerated().map { try Route($1, index: $0, upstream: "http://up.example/base/api/") })
    let readers = PathReader.all.map { ($0, Self.prefixes.map($0.base), $0.base("/base/api/")) }
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
      // The threads are few, and other tests wait for events.
      await Task.yield()
      let own = Self.prefixes.firstIndex(of: String(decoding: route.path, as: UTF8.self)) ?? 0
      func below(_ segments: [[UInt8]]?, _ base: [[UInt8]]) -> Bool {
        segments?.starts(with: base) ?? false
      }
      // The sent and the forwarded path are at or below the same prefix, and no longer one.
      for spelling in Set([path, normal]) {
        let text = Array(spelling.utf8)
        let differs = PathReader.differing(about: text)
        for (reader, bases, _) in readers where differs(reader) {
          let segments = reader.segments(text)
          if !below(segments, bases[own]) {
            Issue.record("\(spelling) leaves \(Self.prefixes[own]): \(reader.testDescription)")
          }
          for other in bases.indices where bases[other].count > bases[own].count && below(segments, bases[other]) {
            Issue.record(
              "\(spelling) of \(Self.prefixes[own]) belongs to \(Self.prefixes[other]): \(reader.testDescription)")
          }
        }
      }
      if forwarded == "/base/api" { continue }
      let text = Array(forwarded.utf8)
      let differs = PathReader.differing(about: text)
      for (reader, _, base) in readers where differs(reader) && !below(reader.segments(text), base) {
        Issue.record("\(path) → \(forwarded) \(reader.testDescription)")
      }
    }
    #expect(accepted > 150)
  }
}
