package import Bytes

/// The values that tie an answer to its request, kept in memory, for minutes.
package struct AuthorizationSession: Sendable {
  /// Returns with the answer, which is invalid without it (RFC 6749 §10.12).
  package let state: String
  /// Returns inside the ID token: the hexadecimal SHA-256 of a seed, as in every MSAL for Python and .NET.
  package let nonce: String
  /// Proves to the token endpoint that the code is ours (PKCE): 43 to 128 unreserved characters.
  package let verifier: Secret
  /// Goes with the browser: the verifier's SHA-256 in base64url.
  package let challenge: String

  /// A session of unpredictable bytes; `digest` is SHA-256.
  package init<Failure: Error>(
    random: (Int) throws(Failure) -> [UInt8], digest: ([UInt8]) throws(Failure) -> [UInt8]
  ) throws(Failure) {
    try self.init(
      state: Base64URL.encode(random(16)), nonceSeed: Base64URL.encode(random(16)),
      verifier: Base64URL.encode(random(32)), digest: digest)
  }

  /// A session of these parts.
  package init<Failure: Error>(
    state: String, nonceSeed: String, verifier: String, digest: ([UInt8]) throws(Failure) -> [UInt8]
  ) throws(Failure) {
    self.state = state
    self.verifier = Secret(verifier)
    challenge = Base64URL.encode(try digest(Array(verifier.utf8)))
    nonce = String(decoding: ASCII.hexadecimalDigits(of: try digest(Array(nonceSeed.utf8))), as: UTF8.self)
  }
}

/// The pages to show a person (OpenID Connect Core 1.0 §3.1.2.1). Without one, the provider decides.
public enum Prompt: String, Sendable, Hashable, CaseIterable {
  /// Choose among the accounts, even if there is one.
  case selectAccount = "select_account"
  /// Consent again.
  case consent
  /// Sign in again, even if a person is signed in.
  case login
  /// Create an account (OpenID Connect Prompt Create 1.0). Not every provider can.
  case create
  /// Show nothing: answer or fail at once.
  case none
}
