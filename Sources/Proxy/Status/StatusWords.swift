// The words of `/status` for people: instants, and reasons for a sign-in.

internal import Bytes
internal import Telemetry
internal import Tokens

/// An instant in RFC 3339's form.
func words(_ instant: UnixTime) -> String {
  LogInstant(seconds: instant.seconds, nanoseconds: 0).description
}

/// An instant in the past, with the time since.
func words(since instant: UnixTime, now: UnixTime) -> String {
  "since \(words(instant)) (\(words(seconds: now - instant)))"
}

extension CertificateValidity.State {
  /// The state for programs.
  var word: String {
    switch self {
    case .valid: "valid"
    case .endsSoon, .endsVerySoon: "ends_soon"
    case .notYetValid: "not_yet_valid"
    case .expired: "expired"
    }
  }
}

extension InteractionReason {
  /// Completes "needs a sign-in:".
  var clause: String {
    switch self {
    case .noAccount: "no account is signed in"
    case .accountAmbiguous: "several accounts are signed in, and the route names none"
    case .noTokens: "the account has nothing left to get a token with"
    case .userMismatch: "the provider answered for another person"
    case .basicAction: "the provider wants more proof, such as a second factor"
    case .additionalAction: "the provider wants something done outside the sign-in first, such as enrolling a device"
    case .messageOnly: "the provider has a message for the account"
    case .consentRequired: "consent is missing"
    case .passwordExpired: "the password has to be changed"
    case .protectionPolicyRequired: "a device policy keeps the account out"
    case .signInRequired: "the provider wants a new sign-in"
    }
  }
}
