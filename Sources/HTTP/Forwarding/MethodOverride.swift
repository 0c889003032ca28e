// The fields by which a request asks to be taken for one of another method. No standard has them; many frameworks obey
// one or another.

import Bytes

/// The fields that override a request's method.
public enum MethodOverride {
  /// Google's, Microsoft's and IBM's names.
  private static let names: [StaticString] = ["x-http-method-override", "x-http-method", "x-method-override"]

  /// Whether a line is such a field. `_` counts as `-`: programs behind CGI and its successors cannot tell the two
  /// apart.
  public static func isOne(_ line: FieldLine, in bytes: Span<UInt8>) -> Bool {
    guard line.known == .other else { return false }
    let name = bytes.extracting(line.name)
    for candidate in names where candidate.utf8CodeUnitCount == name.count {
      var index = 0
      while index < name.count {
        let byte = name[index] == ASCII.underscore ? ASCII.dash : ASCII.lowered(name[index])
        let expected = unsafe candidate.utf8Start[index]
        if byte != expected { break }
        index += 1
      }
      if index == name.count { return true }
    }
    return false
  }
}
