// The grammar of `tracestate` (W3C Trace Context §3.3). What its members mean is up to their vendors.
//
//     list        = list-member 0*31( OWS "," OWS list-member )
//     list-member = key "=" value / OWS
//     key         = ( lcalpha / DIGIT ) 0*255( lcalpha / DIGIT / "_" / "-" / "*" / "/" / "@" )
//     value       = 0*255( chr ) nblk-chr            chr: SP to "~" without "," and "="

internal import Bytes

package struct TraceState: Sendable, Hashable {
  /// The members in order, without empty ones, separated by commas.
  package let text: String

  /// Reads the values of all `tracestate` fields in their order; nil if there is none, or if the grammar is broken: a
  /// half-understood list has no value.
  package init?(_ values: [String]) {
    var keys: Set<Substring> = []
    var members: [Substring] = []
    for value in values {
      for element in value.split(separator: ",") {
        let member = element.trimmed { $0 == " " || $0 == "\t" }
        if member.isEmpty { continue }
        guard let equals = member.firstIndex(of: "=") else { return nil }
        let (key, value) = (member[..<equals], member[member.index(after: equals)...])
        guard Self.isKey(key), Self.isValue(value), keys.insert(key).inserted else { return nil }
        members.append(member)
      }
    }
    guard !members.isEmpty, members.count <= 32 else { return nil }
    text = members.joined(separator: ",")
  }

  private static func isKey(_ key: Substring) -> Bool {
    guard let first = key.utf8.first, isLetterOrDigit(first), key.utf8.count <= 256 else { return false }
    return key.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "@"): true
      default: isLetterOrDigit(byte)
      }
    }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isValue(_ value: Substring) -> Bool {
    // A blank at the end was read as white space between members.
    !value.isEmpty && value.utf8.count <= 256
      && value.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }
  }
}
