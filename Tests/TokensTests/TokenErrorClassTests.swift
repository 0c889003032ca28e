import Testing
import Tokens

@Suite struct TokenErrorClassTests {
  static let cases: [(error: String, suberror: String?, status: Int, expected: TokenErrorClass)] = [
    ("interaction_required", nil, 400, .signInNeeded),
    ("interaction_required", "basic_action", 400, .signInNeeded),
    ("interaction_required", "protection_policy_required", 400, .policy),
    ("login_required", nil, 400, .signInNeeded),
    ("consent_required", nil, 400, .signInNeeded),
    ("invalid_grant", nil, 400, .signInNeeded),
    ("invalid_grant", "basic_action", 400, .signInNeeded),
    ("invalid_grant", "additional_action", 400, .signInNeeded),
    ("invalid_grant", "message_only", 400, .signInNeeded),
    ("invalid_grant", "consent_required", 400, .signInNeeded),
    ("invalid_grant", "user_password_expired", 400, .signInNeeded),
    ("invalid_grant", "token_expired", 400, .signInNeeded),
    ("invalid_grant", "device_authentication_failed", 400, .signInNeeded),
    ("invalid_grant", "client_mismatch", 400, .familyMismatch),
    ("invalid_grant", "protection_policy_required", 400, .policy),
    ("invalid_grant", "bad_token", 400, .refreshTokenUnusable),
    ("invalid_client", nil, 401, .configuration),
    ("invalid_client", nil, 200, .configuration),
    ("unauthorized_client", nil, 400, .configuration),
    ("invalid_scope", nil, 400, .configuration),
    ("invalid_request", nil, 400, .configuration),
    ("unsupported_grant_type", nil, 400, .configuration),
    ("invalid_resource", nil, 400, .configuration),
    ("invalid_target", nil, 400, .configuration),
    ("something_new", nil, 400, .configuration),
    ("invalid_client", nil, 429, .transient),
    ("invalid_grant", nil, 503, .transient),
    ("invalid_request", nil, 408, .transient),
    ("server_error", nil, 400, .transient),
    ("temporarily_unavailable", nil, 200, .transient),
    ("request_timeout", nil, 400, .transient),
    ("access_denied", nil, 403, .declined),
    ("authorization_declined", nil, 400, .declined),
    ("authorization_pending", nil, 400, .pending),
    ("slow_down", nil, 400, .slowDown),
  ]

  @Test(arguments: cases)
  func `an error reply has a class`(error: String, suberror: String?, status: Int, expected: TokenErrorClass) {
    #expect(TokenErrorClass(TokenErrorReply(error: error, suberror: suberror), status: status) == expected)
  }
}
