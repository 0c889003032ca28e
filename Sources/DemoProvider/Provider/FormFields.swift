// Owns reading `application/x-www-form-urlencoded` bodies as OAuth wants them: every parameter at most once.

internal import Bytes
internal import HTTP

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
    guard let decoded = PercentEncoding.decoded(bytes, isForm: true),
      let text = String(validating: decoded, as: UTF8.self)
    else { throw .malformed }
    return text
  }
}
