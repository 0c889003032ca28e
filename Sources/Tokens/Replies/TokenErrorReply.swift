import Bytes

/// An error reply of a token endpoint (RFC 6749 §5.2, with Entra's members), bounded and printable.
public struct TokenErrorReply: Sendable, Hashable {
  /// The `error` member.
  public var error: String
  /// Entra's refinement of `invalid_grant` and `interaction_required`.
  public var suberror: String?
  /// Entra's AADSTS numbers. For messages only: Microsoft changes them, so nothing may branch on them.
  public var codes: [Int64]
  /// The provider's prose, one line, at most 300 characters. For the operator's log, not for callers.
  public var description: String?
  /// A claims challenge.
  public var claims: Claims?
  /// The id of the exchange, for the provider's support.
  public var correlationID: String?
  /// Seconds that this machine's clock is ahead of the provider's, if that may be the reason.
  package var clockSkew: Int64?

  /// True for an answer without an error code: `error` is then its status, and the description a summary.
  package var isWithoutCode = false

  package init(
    error: String, suberror: String? = nil, codes: [Int64] = [], description: String? = nil, claims: Claims? = nil,
    correlationID: String? = nil
  ) {
    self.error = error
    self.suberror = suberror
    self.codes = codes
    self.description = description
    self.claims = claims
    self.correlationID = correlationID
  }

  /// The error in place of a provider's if a token is bound to a certificate that upstreams are not shown.
  package static let boundElsewhere = "certificate_bound_token"
  /// The text in place of an `error` that repeats a secret of the request.
  static let withheldError = "withheld"
  /// The text in place of such a description.
  static let withheldDescription = "the provider's words repeat a secret of the request, and are not shown"

  /// Codes of RFC 6749, RFC 8628 and OpenID Connect, and Entra's: they repeat nothing of a request.
  private static let standardErrors: Set<String> = [
    "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
    "invalid_scope", "access_denied", "unsupported_response_type", "server_error", "temporarily_unavailable",
    "authorization_pending", "slow_down", "expired_token", "code_expired", "authorization_declined",
    "interaction_required", "login_required", "consent_required", "account_selection_required", "invalid_target",
    "invalid_resource", "request_timeout",
  ]

  /// The error reply in an answer to a request without secrets; nil if it is none.
  package init?(json: [UInt8]) {
    guard let members = JSONValue(json: json)?.members else { return nil }
    self.init(members: members, sent: .none)
  }

  /// The error reply of these members, without those that repeat a secret of the request; nil without an `error`.
  init?(members all: [String: JSONValue], sent: SentSecrets) {
    guard let error = all["error"]?.text, !error.isEmpty else { return nil }
    var members = sent.withholding(all)
    if all["error_description"] != nil, members["error_description"] == nil {
      members["error_description"] = .string(Self.withheldDescription)
    }
    let isShown = members["error"] != nil || Self.standardErrors.contains(error)
    self.error = isShown ? error.printable(limit: 80) : Self.withheldError
    suberror = members["suberror"]?.text.map { $0.printable(limit: 80) }.flatMap { $0.isEmpty ? nil : $0 }
    let prose = members["error_description"]?.text
    description = prose.map { $0.printable(words: 300) }
    correlationID = members["correlation_id"]?.text.map { $0.printable(limit: 80) }
    if case .array(let numbers) = members["error_codes"] {
      codes = numbers.prefix(8).compactMap(\.seconds)
    } else {
      codes = prose.flatMap(Self.leadingCode).map { [$0] } ?? []
    }
    // A challenge that cannot be read cannot be met: the error remains without it.
    claims = members["claims"]?.text.flatMap { Claims(ifValid: $0) }
  }

  /// `AADSTS<number>:` at the beginning of a description.
  private static func leadingCode(_ prose: String) -> Int64? {
    guard prose.hasPrefix("AADSTS") else { return nil }
    return Int64(prose.dropFirst(6).prefix { $0.isASCII && $0.isNumber })
  }
}
