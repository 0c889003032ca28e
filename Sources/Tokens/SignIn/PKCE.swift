// The proof that a code is redeemed by the program that requested it (RFC 7636), S256 only. Randomness and digest are
// parameters.

package import Bytes

/// A verifier and its challenge.
package struct PKCE: Sendable, Equatable {
  /// Kept until the code is redeemed: 43 to 128 unreserved characters.
  package let verifier: Secret
  /// Goes with the browser: the verifier's SHA-256 in base64url.
  package let challenge: String

  /// Bytes that a verifier is made of; they become 43 characters.
  package static let byteCount = 32

  /// A proof from fresh random bytes, `byteCount` of them.
  /// - Parameter digest: SHA-256.
  package init<Failure: Error>(
    random bytes: [UInt8], digest: ([UInt8]) throws(Failure) -> [UInt8]
  ) throws(Failure) {
    precondition(bytes.count == Self.byteCount, "a verifier of \(bytes.count) bytes")
    try self.init(verifier: Base64URL.encode(bytes), digest: digest)
  }

  /// A proof with a given verifier.
  /// - Parameter digest: SHA-256.
  package init<Failure: Error>(
    verifier: String, digest: ([UInt8]) throws(Failure) -> [UInt8]
  ) throws(Failure) {
    challenge = Base64URL.encode(try digest(Array(verifier.utf8)))
    self.verifier = Secret(verifier)
  }
}
