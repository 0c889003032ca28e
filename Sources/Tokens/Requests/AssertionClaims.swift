// Claims that a provider's policy wants signed by the application beside those that prove it.

/// Why claims cannot be added to a client assertion.
public enum AssertionClaimsError: Error, Sendable, Hashable {
  /// More than `AssertionClaims.limit`.
  case tooMany
  /// An empty name, or one of more than 64 bytes or with control characters.
  case name(String)
  /// A claim that each assertion has with a value of its own.
  case reserved(String)
  /// The value of this claim has more than 1024 bytes.
  case value(String)
}

/// Further claims of an application's assertions (MSAL's `client_claims`), each a text.
package struct AssertionClaims: Sendable, Hashable {
  package let all: [String: String]

  /// No further claims.
  package static let none = AssertionClaims()

  /// Claims that one application may have.
  package static let limit = 16

  /// What RFC 7523 §3 judges an assertion by. A fixed value would make it one for another application, for another
  /// provider, without an end, or for more than one use. MSAL lets a program replace them.
  package static let reserved: Set<String> = ["aud", "exp", "iat", "iss", "jti", "nbf", "sub"]

  private init() { all = [:] }

  /// These claims.
  package init(_ all: [String: String]) throws(AssertionClaimsError) {
    guard all.count <= Self.limit else { throw .tooMany }
    for (name, value) in all.sorted(by: { $0.key < $1.key }) {
      guard (1...64).contains(name.utf8.count), !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
        throw .name(name)
      }
      guard !Self.reserved.contains(name.lowercased()) else { throw .reserved(name) }
      guard value.utf8.count <= 1024 else { throw .value(name) }
    }
    self.all = all
  }
}
