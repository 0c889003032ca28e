internal import Bytes
internal import Platform
internal import Telemetry

extension RecordedIdentities {
  /// A name in the form of access records; empty if they have none.
  func recorded(_ name: String?) -> [UInt8] {
    guard let name, self != .none else { return [] }
    if self == .plain { return Array(name.utf8) }
    do throws(CryptoError) {
      return try SHA256.digest(of: Array(name.utf8)).flatMap { byte in
        [ASCII.hexadecimalDigit(byte >> 4), ASCII.hexadecimalDigit(byte & 0xF)]
      }
    } catch {
      // No name is better than one that was to be hidden.
      return []
    }
  }
}
