// Owns how an application says which one it is at the token endpoint, and whether it proves it.

internal import Bytes
internal import Tokens

/// An application's identifier and the secret it sent.
struct ClientAuthentication: Equatable {
  var clientIdentifier: String
  var secret: Secret?
  /// Another issuer's token (RFC 7523 §2.2).
  var assertion: String?

  /// From the form (`client_secret_post`), or from a Basic `Authorization` field, whose two parts are form-encoded
  /// (RFC 6749 §2.3.1). Using both is an error of that section.
  init(form: FormFields, authorization: String?) throws(ProviderError) {
    guard let authorization, authorization.lowercased().hasPrefix("basic ") else {
      guard let identifier = form["client_id"] else { throw .missingParameter("client_id") }
      clientIdentifier = identifier.lowercased()
      secret = form["client_secret"].map { Secret($0) }
      assertion = form["client_assertion"]
      guard assertion == nil || (secret == nil && form["client_assertion_type"] == Self.assertionType) else {
        throw .malformedBody
      }
      return
    }
    guard form["client_secret"] == nil, let decoded = Base64.decode(authorization.dropFirst(6)),
      let colon = decoded.firstIndex(of: UInt8(ascii: ":"))
    else { throw .malformedBody }
    do throws(FormError) {
      clientIdentifier = try FormFields.decoded(decoded[..<colon]).lowercased()
      secret = Secret(try FormFields.decoded(decoded[(colon + 1)...]))
    } catch {
      throw .malformedBody
    }
    if let named = form["client_id"], named.lowercased() != clientIdentifier { throw .malformedBody }
  }

  private static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

  /// Refuses a proof that is missing, wrong, or not wanted.
  func prove(_ application: RegisteredApplication, now: UnixTime) throws(ProviderError) {
    if application.isPublic {
      if secret != nil || assertion != nil { throw .secretOfPublicApplication }
      return
    }
    if let assertion { return try prove(application, by: assertion, now: now) }
    guard let secret else { throw .noCredential }
    guard application.secrets.contains(where: { $0 == secret }) else {
      throw .wrongSecret(application: application.clientIdentifier)
    }
  }

  private func prove(
    _ application: RegisteredApplication, by assertion: String, now: UnixTime
  ) throws(ProviderError) {
    let token: SignedJWT
    do throws(JWTFormatError) {
      token = try SignedJWT(assertion)
    } catch {
      throw .malformedBody
    }
    for credential in application.federatedCredentials {
      do throws(JWTRejection) {
        if try credential.accepts(token, now: now) { return }
      } catch {
        if case .expired = error { throw .assertionOutOfTime }
      }
    }
    throw .unknownAssertion
  }
}
