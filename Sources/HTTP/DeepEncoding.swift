// Owns what a percent sign that is encoded itself comes to for a reader who decodes until nothing changes.

/// An octet behind one or more encodings of its percent sign: `%252e`, `%25252e`, …
enum DeepEncoding {
  /// The octet whose two digits stand at `index`, behind a first `%25` and any number of further `25`; nil where none do.
  static func octet(in segment: Span<UInt8>, at index: Int) -> UInt8? {
    var index = index
    while index + 1 < segment.count {
      guard let high = ByteClass.hexadecimalValue(segment[index]),
        let low = ByteClass.hexadecimalValue(segment[index + 1])
      else { return nil }
      let octet = high << 4 | low
      if octet != ASCII.percent { return octet }
      index += 2
    }
    return nil
  }
}
