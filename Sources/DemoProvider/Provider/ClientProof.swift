internal import Bytes
internal import Tokens

/// An application's `client_id` in a request, with what proves it.
struct ClientProof {
  let client: String
  private var secret: Secret?
  /// A token of its own or of another issuer (RFC 7523 §2.2).
  private var assertion: String?

  /// From the form (`client_secret_post`), or from a Basic `Authorization` field, whose two parts are form-encoded
  /// (RFC 6749 §2.3.1). Using both is an error of that section.
  init(_ form: ReplyForm, authorization: String?) throws(Refusal) {
    guard let authorization, authorization.lowercased().hasPrefix("basic ") else {
      client = try form.required("client_id")
      secret = form["client_secret"].map { Secret($0) }
      assertion = form["client_assertion"]
      let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
      if assertion != nil, secret != nil || form["client_assertion_type"] != type { throw .malformed }
      return
    }
    let parts = (Base64.decode(authorization.dropFirst(6)) ?? []).split(separator: UInt8(ascii: ":"), maxSplits: 1)
      .compactMap { PercentEncoding.decoded($0, isForm: true).flatMap { String(validating: $0, as: UTF8.self) } }
    guard parts.count == 2, form["client_secret"] == nil else { throw .malformed }
    client = parts[0]
    secret = Secret(parts[1])
    if let named = form["client_id"], named.lowercased() != client.lowercased() { throw .malformed }
  }

  /// Refuses a proof that is missing, wrong, or not wanted. Assertions are for a token endpoint below `origin`.
  func check(_ application: Application, at origin: String, now: UnixTime) throws(Refusal) {
    if application.isPublic { return }
    if let secret {
      guard secret == application.secret else { throw .wrongSecret(of: application.client) }
      return
    }
    guard let assertion else { throw .noCredential }
    let token: SignedJWT
    do throws(JWTRefusal) { token = try SignedJWT(assertion) } catch { throw .malformed }
    do throws(JWTRefusal) {
      if let certificate = application.certificate {
        // Its own names of the endpoint, one per tenant and domain.
        let audiences = token.claims.audiences.filter {
          $0.hasPrefix("\(origin)/") && $0.hasSuffix("/oauth2/v2.0/token")
        }
        let rule = JWTValidation(
          issuer: application.client, audiences: Set(audiences), algorithms: Set(JWTAlgorithm.allCases), leeway: 0)
        let claims = try rule.accept(token, now: now) { certificate.verdict($0, $1) }
        if claims.subject == application.client { return }
      }
      for credential in application.federated where credential.issuer == token.claims.issuer {
        let rule = JWTValidation(issuer: credential.issuer, audiences: [credential.audience], leeway: 0)
        let claims = try rule.accept(token, now: now) { credential.keys.verdict($0, $1) }
        if claims.subject == credential.subject { return }
      }
    } catch {
      if case .expired = error { throw .assertionOutOfTime }
    }
    throw application.certificate == nil ? .unknownAssertion : .unknownCertificate
  }
}
