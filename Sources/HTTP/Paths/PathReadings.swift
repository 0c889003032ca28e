// The ways in which other readers may split a path: does one of them take it for a path of another route? `NormalPath`
// has the rest: dot segments, backslashes and paths without a normal form.

import Bytes

/// The segments that readers see in a path.
public enum PathReadings {
  /// True if all readers see the same segments: nothing is encoded, empty, or has parameters. Most paths.
  public static func agree(on path: Span<UInt8>) -> Bool {
    var previous: UInt8 = 0
    for index in path.indices {
      let byte = path[index]
      if byte == ASCII.percent || byte == ASCII.semicolon || byte == ASCII.slash && previous == ASCII.slash {
        return false
      }
      previous = byte
    }
    return true
  }

  /// The segments for readers that decode everything, take encoded slashes for slashes, merge slashes and cut
  /// parameters off; one reading for each number of decodings, up to four, before parameters are cut off, and one for
  /// any number. Each is there once more for readers that end a path at a query, a fragment or C's NUL, also if
  /// decoding reveals it.
  public static func all(of path: Span<UInt8>) -> [[[UInt8]]] {
    var readings = [segments(of: path)]
    func add(_ text: [UInt8]) {
      let reading = segments(of: withoutParameters(text).span)
      if !readings.contains(reading) { readings.append(reading) }
    }
    func addEnds(_ text: [UInt8]) {
      add(cut(text))
      add(cut(withoutParameters(text)))
    }
    let raw = path.indices.map { path[$0] }
    addEnds(DeepEncoding.octets(of: path).map(\.byte))
    // Parameters may be cut off before anything is decoded, or behind.
    for start in [raw, withoutParameters(raw)] {
      var text = start
      for _ in 0..<4 {
        add(text)
        addEnds(text)
        let decoded = decodedOnce(text)
        if decoded == text { break }
        text = decoded
      }
    }
    return readings
  }

  /// The segments if everything is decoded before anything else is done.
  private static func segments(of text: Span<UInt8>) -> [[UInt8]] {
    let bytes = DeepEncoding.octets(of: text).map(\.byte)
    return withoutParameters(bytes).split { $0 == ASCII.slash || $0 == ASCII.backslash }.map(Array.init)
  }

  private static func cut(_ text: [UInt8]) -> [UInt8] {
    Array(text.prefix { $0 != ASCII.question && $0 != ASCII.hash && $0 != 0 })
  }

  private static func withoutParameters(_ text: [UInt8]) -> [UInt8] {
    var isParameter = false
    return text.filter { byte in
      if DeepEncoding.isDropped(byte) { return false }
      if byte == ASCII.slash || byte == ASCII.backslash { isParameter = false }
      if byte == ASCII.semicolon { isParameter = true }
      return !isParameter
    }
  }

  private static func decodedOnce(_ text: [UInt8]) -> [UInt8] {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      if text[index] == ASCII.percent, index + 2 < text.count, let high = ASCII.hexadecimalValue(text[index + 1]),
        let low = ASCII.hexadecimalValue(text[index + 2])
      {
        decoded.append(high << 4 | low)
        index += 3
      } else {
        decoded.append(text[index])
        index += 1
      }
    }
    return decoded
  }
}
