// Owns reading `application/x-www-form-urlencoded` bodies as OAuth wants them: every parameter at most once.

/// Why a body is not a form.
enum FormError: Error, Hashable {
  /// A percent sign without two hexadecimal digits, or bytes that are no UTF-8.
  case malformed
  /// A parameter that stands there twice (RFC 6749 §3.2).
  case duplicate(String)
}

/// The parameters of a form. One with an empty value counts as absent (RFC 6749 §3.2).
struct FormFields: Hashable {
  private var values: [String: String] = [:]

  init(_ body: [UInt8]) throws(FormError) {
    var names: Set<String> = []
    for pair in body.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = try Self.decoded(parts[0])
      guard names.insert(name).inserted else { throw .duplicate(name) }
      guard parts.count == 2, !parts[1].isEmpty else { continue }
      values[name] = try Self.decoded(parts[1])
    }
  }

  subscript(name: String) -> String? { values[name] }

  /// The text behind a percent-encoded one, in which a plus stands for a space.
  static func decoded(_ bytes: some Collection<UInt8>) throws(FormError) -> String {
    var result: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): result.append(0x20)
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
          throw .malformed
        }
        result.append(high << 4 | low)
      default: result.append(byte)
      }
    }
    guard let text = String(validating: result, as: UTF8.self) else { throw .malformed }
    return text
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
