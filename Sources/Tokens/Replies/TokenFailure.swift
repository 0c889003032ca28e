internal import Bytes

/// A token endpoint's answer without a usable token.
package struct TokenFailure: Error, Sendable, Hashable {
  /// The fault of the answer.
  package enum Cause: Sendable, Hashable {
    case refused(TokenErrorReply)
    /// Not a JSON object, with a status that is no refusal: a captive portal's page, a half-started server's.
    case unintelligible
    case noAccessToken
    /// A token that is no bearer token.
    case tokenType
    /// The issued token is of another kind than requested (RFC 8693 §2.2.1).
    case issuedTokenType
    /// A token with a byte outside visible ASCII, or longer than `TokenReply.limit`.
    case unusableToken
    /// A token that is expired on arrival.
    case lifetime
  }

  package var cause: Cause
  package var status: Int
  /// Seconds to wait, if the provider named them: 1 to 3600.
  package var retryAfter: Int64?

  package init(_ cause: Cause, status: Int, retryAfter: Int64? = nil) {
    self.cause = cause
    self.status = status
    self.retryAfter = retryAfter
  }

  package var reply: TokenErrorReply? {
    if case .refused(let reply) = cause { reply } else { nil }
  }

  /// The OAuth error, unless it only says that the provider cannot answer now.
  package var refusal: TokenErrorReply? { errorClass == .transient ? nil : reply }

  /// The failure of a refresh request. Status 400 without content refuses the refresh token, though it lacks the error
  /// that RFC 6749 §5.2 demands (glewlwyd).
  package func ofRefresh(isEmpty: Bool) -> TokenFailure {
    guard case .refused(let reply) = cause, reply.isWithoutCode, status == 400, isEmpty else { return self }
    let refusal = TokenErrorReply(error: "invalid_grant", description: "(status 400 without an error)")
    return TokenFailure(.refused(refusal), status: status, retryAfter: retryAfter)
  }

  /// True if the grant of a refresh token does not cover the scopes (RFC 6749 §6).
  package var isAboutScopes: Bool {
    guard case .refused(let reply) = cause else { return false }
    return reply.error == "invalid_scope" && errorClass == .configuration
  }

  /// The reaction to the failure. An answer outside OAuth does not concern the application.
  package var errorClass: TokenErrorClass {
    if case .refused(let reply) = cause { TokenErrorClass(reply, status: status) } else { .transient }
  }
}

/// The members of a successful answer of a token or device authorization endpoint.
struct ReplyMembers {
  private let answer: ProviderAnswer
  private let now: UnixTime
  private let members: [String: JSONValue]

  /// Reads a JSON object. An `error` member makes it an error whatever the status; members that repeat a secret of the
  /// request count as absent. Every answer with another status than 2xx is an error.
  init(_ answer: ProviderAnswer, sent: SentSecrets, now: UnixTime) throws(TokenFailure) {
    (self.answer, self.now) = (answer, now)
    let all = JSONValue(json: answer.body)?.members
    if let reply = all.flatMap({ TokenErrorReply(members: $0, sent: sent) }) {
      throw answer.failure(.refused(reply), now: now)
    }
    guard let all, (200...299).contains(answer.status) else { throw answer.failure(answer.cause(sent), now: now) }
    members = sent.withholding(all)
  }

  subscript(name: String) -> JSONValue? { members[name] }

  func failure(_ cause: TokenFailure.Cause) -> TokenFailure { answer.failure(cause, now: now) }
}
