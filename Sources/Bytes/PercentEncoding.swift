// NormalPath decodes a request's path.

/// Percent-encoding (RFC 3986 §2.1).
public enum PercentEncoding {
  /// Appends a byte: ASCII letters, digits and `marks` as they are, others in hexadecimal.
  package static func encode(_ byte: UInt8, keeping marks: String.UTF8View, into bytes: inout [UInt8]) {
    if ASCII.isAlphanumeric(byte) || marks.contains(byte) {
      bytes.append(byte)
    } else {
      bytes.append(ASCII.percent)
      bytes.append(ASCII.upperHexadecimalDigit(byte >> 4))
      bytes.append(ASCII.upperHexadecimalDigit(byte & 0x0F))
    }
  }

  /// The decoded bytes of a text; `nil` if a percent sign is not followed by two hexadecimal digits. In a form, a plus
  /// is a space.
  public static func decoded(_ text: some Sequence<UInt8>, isForm: Bool = false) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case ASCII.percent:
        guard let high = rest.next().flatMap(ASCII.hexadecimalValue),
          let low = rest.next().flatMap(ASCII.hexadecimalValue)
        else { return nil }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where isForm: bytes.append(0x20)
      default: bytes.append(byte)
      }
    }
    return bytes
  }
}
