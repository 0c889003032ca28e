import Bytes
import HTTP
import Testing

@Suite struct EncodedPathTests {
  static let every = EncodedPath(EncodedPath.names.map(\.value))

  private static func generated(_ count: Int) -> [String] {
    randomPaths(
      2000, of: count, seed: UInt64(count) &* 0x9E37_79B9_7F4A_7C15,
      [
        "/", "/", ".", "..", "%2e", "%2f", "%5c", "%5C", "%09", "%0a", "%0D", "%25", "2e", "2f", "5c", "09", "%252e",
        "%255C", "%252F", ";", "a", "b",
      ])
  }

  @Test(arguments: 1...10)
  func `allowed encodings show no reader a dot segment and lead out of no prefix`(count: Int) {
    var passed = 0
    for text in Self.generated(count) {
      let path = Array(text.utf8)
      var buffer = ByteBuffer(capacity: 64)
      switch NormalPath.normalise(path.span, into: &buffer, removesEncodedSlashes: false, allowing: Self.every) {
      case .refused: continue
      case .alreadyNormal: buffer.append(path)
      case .written: break
      }
      passed += 1
      let segments = eagerSegments(buffer.bytes.indices.map { buffer.bytes[$0] })
      #expect(!segments.contains(".") && !segments.contains(".."), "\(text)")
      let staysBelow = NormalPath.staysBelow(buffer.bytes.extracting(1..<buffer.count))
      #expect(staysBelow)
    }
    #expect(passed > 0)
  }
}

/// Paths of so many pieces each, always the same ones of a seed.
func randomPaths(_ number: Int, of count: Int, seed: UInt64, _ pieces: [String]) -> [String] {
  var state = seed
  return (0..<number).map { _ in
    (0..<count).reduce(into: "/") { path, _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      path += pieces[Int(state >> 33) % pieces.count]
    }
  }
}

/// The segments of a reader that decodes until nothing changes, takes backslashes for slashes, drops tabs and line
/// ends, cuts parameters off, and merges slashes.
func eagerSegments(_ path: [UInt8]) -> [String] {
  var bytes = path
  while true {
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let byte = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16)
      {
        decoded.append(byte)
        index += 3
      } else {
        decoded.append(bytes[index])
        index += 1
      }
    }
    if decoded == bytes { break }
    bytes = decoded
  }
  return bytes.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
    .split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    .map { String(decoding: $0.prefix { $0 != UInt8(ascii: ";") && $0 != 0 }, as: UTF8.self) }
    .filter { !$0.isEmpty }
}
