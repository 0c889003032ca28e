// Owns the one table from a failed token request to what may be done about it (the classes that MSAL libraries share).

/// What a failed token request calls for.
package enum TokenErrorClass: Sendable, Hashable {
  /// A person has to sign in again, consent, or prove more. Asking again without that is pointless.
  case signInNeeded
  /// A device policy has to be met first; a sign-in alone does not help.
  case policy
  /// The refresh token is another family's (only seen while probing families).
  case familyMismatch
  /// The refresh token itself is condemned; it may be dropped if it is still the stored one.
  case refreshTokenUnusable
  /// The provider refuses the application or the request as such: a setting is wrong, here or there.
  case configuration
  /// The provider is down, slow, busy or not itself. A valid token stays in use; ask again later.
  case transient
  /// The person said no.
  case declined
  /// A device code is not used yet: ask again after the interval.
  case pending
  /// The same, with a longer interval from now on.
  case slowDown

  /// The class of a reply with an `error` member, whatever its status: some providers send errors with 200.
  package init(_ reply: TokenErrorReply, status: Int) {
    // A busy provider is busy first, whatever it says: retrying by the OAuth error would defeat its back-pressure.
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

  /// Whether a status says by itself that the provider cannot answer now.
  static func isTransient(status: Int) -> Bool {
    status >= 500 || status == 429 || status == 408
  }
}
