import Bytes

/// A form under construction (`application/x-www-form-urlencoded`, RFC 6749 appendix B).
package struct FormBody: Sendable {
  /// The bytes so far.
  package private(set) var bytes: [UInt8] = []

  /// The same as text, for a URL's query.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package init() {}

  /// Appends a member with a text value.
  package mutating func append(_ name: String, _ value: String) {
    append(name)
    for byte in value.utf8 { Self.encode(byte, into: &bytes) }
  }

  mutating func append(_ parameters: TokenParameters) {
    for parameter in parameters.all { append(parameter.name, parameter.value) }
  }

  /// Appends a member with a secret value, without making a text of it.
  mutating func append(_ name: String, _ value: Secret) {
    append(name)
    let span = value.bytes
    for index in span.indices { Self.encode(span[index], into: &bytes) }
  }

  private mutating func append(_ name: String) {
    if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
    for byte in name.utf8 { Self.encode(byte, into: &bytes) }
    bytes.append(UInt8(ascii: "="))
  }

  /// Appends one byte in the form's encoding: letters, digits and `*-._` as they are, others in hexadecimal. A space
  /// too: some readers of Basic credentials know no `+`.
  static func encode(_ byte: UInt8, into bytes: inout [UInt8]) {
    PercentEncoding.encode(byte, keeping: "*-._".utf8, into: &bytes)
  }
}
