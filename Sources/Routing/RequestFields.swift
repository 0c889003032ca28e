package import Bytes
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
  static let nameLimit = 32
  /// The most bytes of the added lines.
  static let byteLimit = 8 * 1024

  /// Fields to set, in the order of `set`, and to remove.
  package init(set: [(name: RouteFieldName, value: String)], removed: [RouteFieldName]) throws(UnusableText) {
    var (names, lines): ([RouteFieldName], [UInt8]) = ([], [])
    for name in set.map(\.name) + removed {
      if let other = names.first(where: name.isAlike) {
        throw UnusableText("'\(other.text)' and '\(name.text)' are one field to most programs; keep one")
      }
      names.append(name)
    }
    for (name, value) in set {
      guard Self.isValue(Array(value.utf8)) else {
        throw UnusableText("the value of '\(name.text)' has a character that is not ASCII, or a blank at an end")
      }
      lines += Array("\(name.text): \(value)\r\n".utf8)
    }
    if names.count > Self.nameLimit { throw UnusableText("has more than \(Self.nameLimit) names") }
    if lines.count > Self.byteLimit { throw UnusableText("sets more than \(Self.byteLimit) bytes") }
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
