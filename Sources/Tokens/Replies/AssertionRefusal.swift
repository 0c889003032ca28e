/// A provider's reason to give no token for a caller's.
public enum AssertionRefusal: Sendable, Hashable {
  /// The person has to prove more: a token with these claims, for this application, would do.
  case claims(Claims)
  /// There is no consent that the application acts for the person.
  case consent
  /// The token has expired, is another application's, or is invalid.
  case invalidToken
  /// The provider's rules do not allow this person, or this caller, such a token.
  case denied

  /// The refusal of the caller's token in a reply; nil if it is about something else.
  ///
  /// | error | beside it | the caller's token |
  /// |---|---|---|
  /// | any that a person could do something about | `claims` | lacks these claims |
  /// | `consent_required`, or that as `suberror` | | lacks consent |
  /// | `invalid_grant`, `interaction_required`, `login_required`, `invalid_token` | | is no longer valid, or not here |
  /// | `invalid_request` | of RFC 8693 (§2.2.2) | is not valid here |
  /// | `access_denied` | | may not be exchanged |
  /// | any other | | is not mentioned |
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
