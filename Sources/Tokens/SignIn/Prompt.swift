// Owns what a sign-in may be asked to show.

/// How much a person is asked (OpenID Connect Core 1.0 §3.1.2.1). None of these is a choice too: the provider decides.
public enum Prompt: String, Sendable, Hashable, CaseIterable {
  /// Choose among the accounts, even where there is one.
  case selectAccount = "select_account"
  /// Consent again.
  case consent
  /// Sign in again, even if a person is signed in.
  case login
  /// Show nothing: answer or fail at once.
  case none
}
