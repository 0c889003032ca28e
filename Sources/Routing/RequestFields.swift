internal import Bytes
package import HTTP

/// Fields that a route sets in the requests that it forwards, and fields that it removes.
package struct RequestFields: Sendable, Hashable {
  /// Every name whose lines of callers are not forwarded.
  private let names: [RouteFieldName]
  /// The values of the fields that are set.
  package let set: [String: String]
  /// The same as lines.
  package let lines: [UInt8]

  /// The most names.
  package static let nameLimit = 32
  /// The most bytes of the added lines.
  package static let byteLimit = 8 * 1024

  /// A mistake in the names or values.
  package enum Mistake: Error, Sendable, Hashable {
    /// Names that are one field to most programs.
    case repeated(String, String)
    case tooMany
    case tooLong
    /// A value with a character that no field value has, or a blank at an end.
    case value(of: String)
  }

  /// Fields to set, in the order of `set`, and to remove.
  package init(set: [(name: RouteFieldName, value: String)], removed: [RouteFieldName]) throws(Mistake) {
    var (names, lines): ([RouteFieldName], [UInt8]) = ([], [])
    for name in set.map(\.name) + removed {
      if let other = names.first(where: name.isAlike) { throw .repeated(other.text, name.text) }
      names.append(name)
    }
    for (name, value) in set {
      guard Self.isValue(Array(value.utf8)) else { throw .value(of: name.text) }
      lines += Array("\(name.text): \(value)\r\n".utf8)
    }
    if names.count > Self.nameLimit { throw .tooMany }
    if lines.count > Self.byteLimit { throw .tooLong }
    (self.names, self.lines) = (names, lines)
    self.set = Dictionary(uniqueKeysWithValues: set.map { ($0.name.text, $0.value) })
  }

  /// True if a caller's line is not forwarded.
  package func consumes(_ line: FieldLine, _ bytes: Span<UInt8>) -> Bool {
    for name in names where name.matches(line, bytes) { return true }
    return false
  }

  /// True if bytes can be a field's value as it is: ASCII without controls, no blank at an end (RFC 9110 §5.5).
  package static func isValue(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first, let last = bytes.last, first > 0x20, last > 0x20 else { return false }
    return bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F || $0 == 0x09 }
  }
}
