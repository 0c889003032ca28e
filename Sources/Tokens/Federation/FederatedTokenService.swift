package import Bytes
package import HTTP

/// A service whose JWT proves a workload's application to a provider (workload identity federation).
package enum FederatedTokenService: Sendable, Equatable {
  /// The metadata server of Google Cloud.
  case gcp(HTTPURL)
  /// The service of GitHub Actions or Forgejo Actions for a job's ID tokens, and the token that requests them.
  case githubActions(HTTPURL, token: Secret)

  /// Google's, by its documented name. `GCE_METADATA_HOST` names another one, as for Google's own libraries.
  package static func gcp(environment: [String: String]) throws(EnvironmentMistake) -> FederatedTokenService {
    let (variables, name) = (EnvironmentVariables(environment), "GCE_METADATA_HOST")
    let host = variables[name] ?? "metadata.google.internal"
    let address = "http://\(host)/computeMetadata/v1/instance/service-accounts/default/identity"
    return .gcp(try variables.url(address, of: name))
  }

  /// The service in a job's environment. A job has it only with the permission `id-token: write`.
  package static func githubActions(environment: [String: String]) throws(EnvironmentMistake) -> FederatedTokenService {
    let variables = EnvironmentVariables(environment)
    let (address, secret) = ("ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN")
    let (text, token) = (try variables.text(address), try variables.text(secret))
    guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .missing(secret) }
    let url = try variables.url(text, of: address)
    if url.scheme == .http, !url.isLoopback { throw .plaintext(address) }
    return .githubActions(url, token: Secret(token))
  }

  package var endpoint: HTTPURL {
    switch self {
    case .gcp(let url), .githubActions(let url, _): url
    }
  }
}

package struct FederatedTokenRequest: Sendable {
  package let url: HTTPURL
  /// The request's fields, names in lower case. One may hold a secret.
  package let fields: [(name: String, value: String)]
  private let service: FederatedTokenService

  package init(_ service: FederatedTokenService, audience: String) {
    var query = FormBody()
    query.append("audience", audience)
    switch service {
    case .gcp:
      query.append("format", "full")
      fields = [("metadata-flavor", "Google")]
    case .githubActions(_, let token):
      fields = [("authorization", "bearer \(token.revealed())"), ("accept", "application/json; api-version=2.0")]
    }
    url = service.endpoint.adding(query: query.text)
    self.service = service
  }

  /// The token of an answer.
  /// - Parameter field: finds a field of the answer by its lower-case name.
  package func token(
    _ answer: ProviderAnswer, now: UnixTime, field: (String) -> String?
  ) throws(TokenFailure) -> FederatedToken {
    let (status, body) = (answer.status, answer.body)
    func failure(_ cause: TokenFailure.Cause) -> TokenFailure { answer.failure(cause, now: now) }
    if status >= 500 || status == 429 || status == 408 { throw failure(.unintelligible) }
    let text: String
    switch service {
    case .gcp:
      // Only Google's server sends this field (Google documents it for every answer).
      guard field("metadata-flavor") == "Google" else { throw failure(.unintelligible) }
      text = String(decoding: body, as: UTF8.self)
      guard status == 200 else { throw failure(.refused(Self.refusal(status, text.printable(words: 200)))) }
    case .githubActions(_, let token):
      let members = JSONValue(json: body)?.members ?? [:]
      guard status == 200, let value = members["value"]?.text else {
        let words = SentSecrets([token]).withholding(members)["message"]?.text
        throw failure(.refused(Self.refusal(status, words)))
      }
      text = value
    }
    guard let token = FederatedToken(text.filter { !$0.isWhitespace }) else { throw failure(.unusableToken) }
    return token
  }

  private static func refusal(_ status: Int, _ words: String?) -> TokenErrorReply {
    TokenErrorReply(error: "status \(status)", description: words.map { $0.printable(words: 200) })
  }
}

/// Another issuer's token that proves an application.
package struct FederatedToken: Sendable {
  package let text: Secret
  /// Its end; nil if it names none.
  package let expiresAt: UnixTime?
  /// Its issuer, subject and audience; nil for a token that is no JWT. A provider compares these with the registration.
  package let claims: JWTClaims?

  /// A JWT; nil for other texts. The issuer is not known here, so nothing of it is verified.
  package init?(_ text: String) {
    guard let claims = SignedJWT.claims(of: text) else { return nil }
    self.claims = claims
    self.text = Secret(text)
    expiresAt = claims.expiresAt
  }

  package init(_ text: Secret, expiresAt: UnixTime) {
    self.text = text
    let read = FederatedToken(text.revealed())
    claims = read?.claims
    self.expiresAt = min(read?.expiresAt ?? expiresAt, expiresAt)
  }

  /// Seconds before its end from which it is no longer used: it must arrive before it ends.
  package static let margin: Int64 = 60

  /// True if it may prove one more request. A token without an end is used once.
  package func isKept(at now: UnixTime) -> Bool {
    expiresAt.map { $0 - now >= Self.margin } ?? false
  }
}
