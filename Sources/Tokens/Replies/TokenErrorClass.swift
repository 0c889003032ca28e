/// The reaction that a failed token request calls for (the classes that MSAL libraries share), by its label in metrics.
package enum TokenErrorClass: String, Sendable, Hashable, CaseIterable {
  /// A person has to sign in again, consent, or prove more. Another request without that is pointless.
  case signInNeeded = "sign_in_needed"
  /// A device policy has to be met first; a sign-in alone does not help.
  case policy
  /// The refresh token is another family's (only seen while probing families).
  case familyMismatch = "family_mismatch"
  /// The refresh token itself is condemned; it may be dropped if it is still the stored one.
  case refreshTokenUnusable = "refresh_token_unusable"
  /// The provider refuses the application or the request: a setting is wrong, here or there.
  case configuration
  /// The provider is down, slow, busy or faulty. A valid token stays in use; ask again later.
  case transient
  case declined
  /// A device code is not used yet: ask again after the interval.
  case pending
  /// The same, with a longer interval from now on.
  case slowDown = "slow_down"

  /// The class of a reply with an `error` member, whatever its status: some providers send errors with 200.
  package init(_ reply: TokenErrorReply, status: Int) {
    // A busy provider is transient whatever its error is: retrying by the OAuth error would defeat its back-pressure.
    if Self.isTransient(status: status) {
      self = .transient
      return
    }
    switch (reply.error, reply.suberror) {
    case ("invalid_grant", "client_mismatch"): self = .familyMismatch
    case ("invalid_grant", "protection_policy_required"), ("interaction_required", "protection_policy_required"):
      self = .policy
    case ("invalid_grant", "bad_token"): self = .refreshTokenUnusable
    case ("invalid_grant", _), ("interaction_required", _), ("login_required", _), ("consent_required", _):
      self = .signInNeeded
    case ("temporarily_unavailable", _), ("server_error", _), ("request_timeout", _): self = .transient
    case ("access_denied", _), ("authorization_declined", _): self = .declined
    case ("authorization_pending", _): self = .pending
    case ("slow_down", _): self = .slowDown
    default: self = .configuration
    }
  }

  /// True if a status alone means that the provider cannot answer now.
  package static func isTransient(status: Int) -> Bool {
    status >= 500 || status == 429 || status == 408
  }
}

/// A reason why a person is needed for a token (MSAL's classifications, and the cases without a request).
public enum InteractionReason: String, Sendable, Hashable, CaseIterable {
  /// No account is signed in, or none of the requested name.
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
  /// The sign-in pages show a message that cannot be resolved there.
  case messageOnly = "message_only"
  /// The application may not do this for the person, not yet or no longer.
  case consentRequired = "consent_required"
  /// The password has to be changed.
  case passwordExpired = "user_password_expired"
  /// A policy for the device or its applications has to be met; a sign-in alone does not help.
  case protectionPolicyRequired = "protection_policy_required"
  /// The person has to sign in again; the provider gives no reason.
  case signInRequired = "sign_in_required"

  /// The reason in a provider's reply (MSAL for .NET's table of suberrors).
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

  package var isWithoutAccount: Bool { self == .noAccount || self == .accountAmbiguous }
}
