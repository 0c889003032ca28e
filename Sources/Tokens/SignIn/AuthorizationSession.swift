// Owns what one sign-in through a browser must remember until its answer comes. It lives in memory, for minutes.

import Bytes

/// The three values that tie an answer to its question.
package struct AuthorizationSession: Sendable {
  /// Comes back with the answer, which counts for nothing without it (RFC 6749 §10.12).
  package let state: String
  /// Comes back inside the ID token: the hexadecimal SHA-256 of a seed, as in every MSAL for Python and .NET.
  package let nonce: String
  /// Shows the token endpoint that the code is ours.
  package let proof: PKCE

  /// A session of fresh random bytes.
  /// - Parameters:
  ///   - random: returns that many unpredictable bytes.
  ///   - digest: SHA-256.
  package init<Failure: Error>(
    random: (Int) throws(Failure) -> [UInt8], digest: ([UInt8]) throws(Failure) -> [UInt8]
  ) throws(Failure) {
    try self.init(
      state: Base64URL.encode(random(16)), nonceSeed: Base64URL.encode(random(16)),
      proof: PKCE(random: random(PKCE.byteCount), digest: digest), digest: digest)
  }

  /// A session of these parts.
  /// - Parameter digest: SHA-256.
  package init<Failure: Error>(
    state: String, nonceSeed: String, proof: PKCE, digest: ([UInt8]) throws(Failure) -> [UInt8]
  ) throws(Failure) {
    self.state = state
    self.proof = proof
    let digits = try digest(Array(nonceSeed.utf8)).flatMap {
      [ASCII.hexadecimalDigit($0 >> 4), ASCII.hexadecimalDigit($0 & 15)]
    }
    nonce = String(decoding: digits, as: UTF8.self)
  }
}
