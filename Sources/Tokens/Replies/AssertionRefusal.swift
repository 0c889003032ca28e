// The table of what a provider may have against a caller's token, and so what the caller is told. What concerns the
// application, its request or the provider itself is not in it.

/// Why a provider gives no token for a caller's.
public enum AssertionRefusal: Sendable, Hashable {
  /// The person has to prove more: a token with these claims, for this application, would do.
  case claims(Claims)
  /// Nobody has consented that the application asks in the person's name.
  case consent
  /// The token has expired, is another application's, or is not believed.
  case invalidToken
  /// The provider's rules do not let this person, or this caller, have such a token.
  case denied

  /// What a reply says of the caller's token; nil where it is about something else.
  ///
  /// | error | beside it | the caller's token |
  /// |---|---|---|
  /// | any that a person could do something about | `claims` | lacks these claims |
  /// | `consent_required`, or that as `suberror` | | lacks consent |
  /// | `invalid_grant`, `interaction_required`, `login_required`, `invalid_token` | | is not good any more, or here |
  /// | `invalid_request` | of RFC 8693 (§2.2.2) | is not good here |
  /// | `access_denied` | | may not be exchanged |
  /// | any other | | nothing is said of it |
  package init?(_ reply: TokenErrorReply, grant: CallerGrant) {
    switch reply.error {
    case "invalid_grant", "interaction_required", "login_required", "consent_required":
      if let claims = reply.claims {
        self = .claims(claims)
      } else if reply.error == "consent_required" || reply.suberror == "consent_required" {
        self = .consent
      } else {
        self = .invalidToken
      }
    case "invalid_token": self = .invalidToken
    case "access_denied": self = .denied
    case "invalid_request":
      guard case .tokenExchange = grant else { return nil }
      self = .invalidToken
    default: return nil
    }
  }

  /// A stable word for records.
  package var word: String {
    switch self {
    case .claims: "claims_required"
    case .consent: "consent_required"
    case .invalidToken: "invalid_token"
    case .denied: "access_denied"
    }
  }
}
