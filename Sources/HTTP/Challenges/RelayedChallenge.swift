// An upstream's challenge for a caller whose token the upstream never sees. `resource_metadata` (RFC 9728 §5.1) would
// send the caller's client to the upstream's provider, for a token that the proxy then replaces: the next response
// would be the same challenge.

package import Bytes

/// A `WWW-Authenticate` value without the address of the upstream's metadata.
package enum RelayedChallenge {
  private static let name: StaticString = "resource_metadata"

  /// True if a value has the parameter, or text that a careless reader could take for it.
  package static func namesMetadata(_ value: Span<UInt8>) -> Bool {
    let length = name.utf8CodeUnitCount
    guard value.count >= length else { return false }
    for start in 0...(value.count - length)
    where value.extracting(start..<(start + length)).equalsIgnoringCase(name) { return true }
    return false
  }

  /// Appends a value without each element that names metadata: a parameter of that name, or one whose value mentions
  /// it, since some clients search the whole field for it. Appends nothing if nothing is left.
  package static func write(_ value: Span<UInt8>, into output: inout ByteBuffer) {
    var scanner = ChallengeScanner(value)
    var isFirst = true
    var isBehindScheme = false
    while let element = scanner.next() {
      let text = value.extracting(scanner.last)
      if namesMetadata(text) { continue }
      var isScheme = false
      if case .scheme = element { isScheme = true }
      if isBehindScheme, !isScheme {
        output.append(ASCII.space)
      } else if !isFirst {
        output.append(", ")
      }
      output.append(text)
      (isFirst, isBehindScheme) = (false, isScheme)
    }
  }
}
