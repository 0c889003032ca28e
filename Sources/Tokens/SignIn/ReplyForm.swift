// Owns the reading of `application/x-www-form-urlencoded` text from outside: a redirect's query, a posted form.

internal import Bytes
internal import HTTP

/// The members of a form.
package struct ReplyForm: Sendable {
  /// Why a text is not a form.
  package enum Problem: Error, Sendable {
    /// A percent sign without two hexadecimal digits, or bytes that are not UTF-8.
    case encoding
    /// A member that stands there twice (RFC 6749 §3.1 forbids it).
    case repeated
  }

  private var members: [String: String] = [:]

  /// Reads a form; the text has no `?` in front.
  package init(_ text: [UInt8]) throws(Problem) {
    for pair in text.split(separator: UInt8(ascii: "&")) {
      let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = try Self.decoded(halves[0])
      let value = halves.count == 2 ? try Self.decoded(halves[1]) : ""
      guard members.updateValue(value, forKey: name) == nil else { throw .repeated }
    }
  }

  /// A member's value. An empty one counts as absent.
  package subscript(_ name: String) -> String? {
    members[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func decoded(_ text: ArraySlice<UInt8>) throws(Problem) -> String {
    guard let bytes = PercentEncoding.decoded(text, isForm: true), let text = String(validating: bytes, as: UTF8.self)
    else { throw .encoding }
    return text
  }
}
