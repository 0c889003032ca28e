// Owns why a person is needed, in words that programs can compare. What the provider wrote beside them is
// `TokenErrorReply`'s.

/// Why a token cannot be had without a person (MSAL's classifications, and the cases that no provider is asked about).
public enum InteractionReason: String, Sendable, Hashable, CaseIterable {
  /// No account is signed in, or none of the name that was asked for.
  case noAccount = "no_account"
  /// Several accounts are signed in, and none was named.
  case accountAmbiguous = "account_ambiguous"
  /// The account is known, but there is no refresh token of this application's for it.
  case noTokens = "no_tokens"
  /// The provider answered with another person's tokens.
  case userMismatch = "user_mismatch"
  /// The person has to do something in the sign-in pages, such as a second factor.
  case basicAction = "basic_action"
  /// The person has to do something elsewhere first, such as enrolling a device.
  case additionalAction = "additional_action"
  /// The sign-in pages have something to say that cannot be resolved there.
  case messageOnly = "message_only"
  /// The application may not do this in the person's name, not yet or not any more.
  case consentRequired = "consent_required"
  /// The password has to be changed.
  case passwordExpired = "user_password_expired"
  /// A policy for the device or its applications has to be met; a sign-in alone does not do it.
  case protectionPolicyRequired = "protection_policy_required"
  /// The person has to sign in again, for no reason the provider gives.
  case signInRequired = "sign_in_required"

  /// The reason that a provider's reply gives (MSAL for .NET's table of suberrors).
  package init(_ reply: TokenErrorReply) {
    switch reply.suberror ?? reply.error {
    case "basic_action": self = .basicAction
    case "additional_action": self = .additionalAction
    case "message_only": self = .messageOnly
    case "consent_required": self = .consentRequired
    case "user_password_expired": self = .passwordExpired
    case "protection_policy_required": self = .protectionPolicyRequired
    default: self = reply.error == "consent_required" ? .consentRequired : .signInRequired
    }
  }

  /// Whether it is not known whose token would be meant.
  package var isWithoutAccount: Bool { self == .noAccount || self == .accountAmbiguous }
}
