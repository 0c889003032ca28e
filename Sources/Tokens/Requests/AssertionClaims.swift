/// Claims that cannot be added to a client assertion.
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

  package static let none = AssertionClaims()

  /// Claims that one application may have.
  package static let limit = 16

  /// The claims by which an assertion is judged (RFC 7523 §3). A fixed value would make it valid for another
  /// application, for another provider, without an end, or more than once. MSAL lets a program replace them.
  package static let reserved: Set<String> = ["aud", "exp", "iat", "iss", "jti", "nbf", "sub"]

  private init() { all = [:] }

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
