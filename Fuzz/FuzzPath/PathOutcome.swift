// The properties of every path's normal form, checked by a reading that shares nothing with the code under test.

import Bytes
import HTTP

/// Normal forms with their properties checked.
enum PathOutcome {
  /// The normal form of a path; nil if it has none.
  static func normal(_ path: Span<UInt8>) -> [UInt8]? {
    var buffer = ByteBuffer(capacity: 8)
    let form: [UInt8]
    switch NormalPath.normalise(path, into: &buffer) {
    case .refused: return nil
    case .alreadyNormal: form = path.indices.map { path[$0] }
    case .written: form = buffer.bytes.indices.map { buffer.bytes[$0] }
    }
    buffer.removeAll()
    precondition(NormalPath.normalise(form.span, into: &buffer) == .alreadyNormal, "normalising twice changes a path")
    for segment in eagerSegments(form) { precondition(segment != [0x2E] && segment != [0x2E, 0x2E], "a dot segment") }
    if path.count > 0, NormalPath.staysBelow(path.extracting(1...)) {
      var depth = 0
      for segment in eagerSegments(path.indices.map { path[$0] }) where segment != [0x2E] {
        depth += segment == [0x2E, 0x2E] ? -1 : 1
        precondition(depth >= 0, "a suffix climbs that was said to stay below")
      }
    }
    return form
  }

  /// The segments that a reader sees who decodes until nothing changes, takes backslashes for slashes, merges slashes
  /// and cuts parameters off.
  static func eagerSegments(_ path: [UInt8]) -> [[UInt8]] {
    var text = path
    while true {
      var decoded: [UInt8] = []
      var rest = text[...]
      while let first = rest.popFirst() {
        let digits = String(decoding: rest.prefix(2), as: UTF8.self)
        if first == 0x25, digits.utf8.count == 2, digits.first != "+", let byte = UInt8(digits, radix: 16) {
          decoded.append(byte)
          rest = rest.dropFirst(2)
        } else {
          decoded.append(first)
        }
      }
      if decoded == text { break }
      text = decoded
    }
    return text.split { $0 == 0x2F || $0 == 0x5C }.map { Array($0.prefix { $0 != 0x3B }) }.filter { !$0.isEmpty }
  }
}
