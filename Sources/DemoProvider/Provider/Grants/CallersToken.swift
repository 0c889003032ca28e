// The rule of exchanged tokens: an application that was called with a person's token may ask for one of its own in that
// person's name (Entra's on-behalf-of, and RFC 8693 with the same meaning).

internal import Bytes
internal import Platform
internal import Tokens

/// A token that an application was called with.
struct CallersToken {
  private let token: SignedJWT
  private let claims: JWTClaims

  /// Believes a token that this provider issued for `application` in `tenant`.
  init(
    _ text: String, for application: RegisteredApplication, in tenant: Tenant, issuer: String,
    signature: (SignedJWT) -> SignatureVerdict, now: UnixTime
  ) throws(ProviderError) {
    do throws(JWTRefusal) {
      token = try SignedJWT(text)
    } catch {
      throw .assertionUntrusted
    }
    var audiences: Set = [application.clientIdentifier]
    if let api = tenant.api(application.clientIdentifier) { audiences.insert(api.identifierURI) }
    // People call a blueprint, and one of its agents asks for them.
    if let api = application.blueprint.flatMap(tenant.api) {
      audiences.formUnion([api.clientIdentifier, api.identifierURI])
    }
    let rule = JWTValidation(issuer: issuer, audiences: audiences, leeway: 60)
    do throws(JWTRefusal) {
      claims = try rule.accept(token, now: now) { token, _ in signature(token) }
    } catch {
      switch error {
      case .expired: throw .callersTokenExpired
      case .audience: throw .callersTokenForAnother(application.clientIdentifier)
      default: throw .assertionUntrusted
      }
    }
  }

  /// What its person has authorised, as far as the sign-in behind it goes.
  func authorization(
    of application: RegisteredApplication, in tenant: Tenant, _ directory: DemoDirectory,
    countFrom: [String: UnixTime], now: UnixTime
  ) throws(ProviderError) -> Authorization {
    // An application has no one in whose name to ask.
    guard claims.identityType != "app", let object = claims.object,
      let person = directory.person(known: object, in: tenant)
    else { throw .assertionUntrusted }
    if let since = countFrom[object], claims.notBefore.map({ $0 < since }) ?? true {
      throw .stepUpRequired(claims: #"{"access_token":{"nbf":{"essential":true,"value":"\#(since.seconds)"}}}"#)
    }
    return Authorization(
      person: person.user.object, tenant: tenant.identifier, client: application.clientIdentifier, scopes: [],
      authentication: Authentication(
        at: claims.authenticatedAt ?? now, isTwofold: AssuranceClaims(token).level == Authentication.twofold))
  }
}

extension DemoDirectory {
  /// The person whose `oid` in a tenant this is.
  fileprivate func person(known object: String, in tenant: Tenant) -> Person? {
    for home in tenants {
      for user in home.users {
        let person = Person(user: user, home: home)
        if person.object(in: tenant) == object { return person }
      }
    }
    return nil
  }
}
