// The person who signs in with an identity provider, through its pages: Tests/peers/person.py, which
// needs no more than Python's standard library.

/// A person at a browser. Each use is a browser of its own, in which no account is signed in yet.
package struct SigningInPerson: Sendable {
  private let words: [String]

  /// A user, of the sample directory unless told. `trust` is the certificate file of the provider's authority;
  /// `declines` refuses consent, and `discards` does not keep a sign-in if the last page asks. Cookies of the provider
  /// are kept in `jar`.
  package init(
    user: String = "alice@contoso.example", password: String? = nil, trust: String? = nil, declines: Bool = false,
    discards: Bool = false, jar: String? = nil
  ) {
    words =
      ["/usr/bin/python3", testsDirectory + "/peers/person.py", "--user", user]
      + (trust.map { ["--ca", $0] } ?? []) + (password.map { ["--password", $0] } ?? [])
      + (declines ? ["--decline"] : []) + (discards ? ["--discard"] : []) + (jar.map { ["--jar", $0] } ?? [])
  }

  /// Types the code that a device shows, signs in, and answers for consent. The headings of the pages on the way.
  @discardableResult
  package func signInDevice(at address: String, code: String) async throws -> String {
    try await succeed(words + ["device", address, code])
  }

  /// Opens an authorization request, signs in, and brings the answer to the redirect URI, which must be listened to.
  /// The answer there.
  @discardableResult
  package func authorize(_ address: String) async throws -> String {
    try await succeed(words + ["--deliver", "authorize", address])
  }

  /// The same without going to the redirect URI: what would have been brought there, as a JSON object with `target`,
  /// `method`, `parameters` and `pages`.
  package func answer(to address: String) async throws -> String {
    try await succeed(words + ["authorize", address])
  }
}
