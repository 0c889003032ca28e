// Owns the identity provider: from a parsed request to its answer. Rules are the grants', sockets are the server's.

public import Network
public import Tokens

/// A developer's identity provider, Entra-shaped (v2.0 endpoints).
public struct IdentityProvider: Sendable {
  /// Scheme, host and port that its documents name.
  public let origin: String
  private let directory: DemoDirectory
  private let signer: TokenSigner
  private let tokenLifetime: Int64

  /// A provider that signs with `key`. Tokens are valid for `tokenLifetime` seconds.
  public init(
    origin: String, directory: DemoDirectory, key: RSAKey, tokenLifetime: Int64 = 3600
  ) throws(CryptoError) {
    self.origin = origin
    self.directory = directory
    self.tokenLifetime = tokenLifetime
    signer = try TokenSigner(key: key)
  }

  /// The issuer of a tenant's tokens.
  public func issuer(tenant: String) -> String { DiscoveryDocument.issuer(origin: origin, tenant: tenant) }

  /// The public keys as the provider publishes them.
  public var keySet: JWKSet { JWKSet(keys: [signer.publicKey]) }

  /// The answer to a request at `now`.
  public func answer(_ request: DemoRequest, now: UnixTime) -> DemoAnswer {
    let identifiers = RequestIdentifiers(clientRequest: request["client-request-id"])
    var answer: DemoAnswer
    do throws(ProviderError) {
      answer = try granted(request, now: now)
    } catch {
      answer = DemoAnswer(status: error.status, json: ErrorDocument(error, identifiers, now: now))
      answer.note = "AADSTS\(error.code) \(error.name)"
      if error.status == 401 { answer.fields.append(("www-authenticate", "Basic realm=\"\(origin)\"")) }
    }
    answer.fields.append(("cache-control", "no-store"))
    answer.fields.append(("x-ms-request-id", identifiers.trace))
    answer.fields.append(("client-request-id", identifiers.correlation))
    return answer
  }

  private func granted(_ request: DemoRequest, now: UnixTime) throws(ProviderError) -> DemoAnswer {
    guard let endpoint = ProviderEndpoint(path: request.path) else { throw .unknownPath }
    if ["common", "organizations", "consumers"].contains(endpoint.tenant) { throw .tenantNotSpecific }
    guard let tenant = directory.tenant(endpoint.tenant) else { throw .unknownTenant(endpoint.tenant) }
    switch endpoint {
    case .metadata:
      return DemoAnswer(status: 200, json: DiscoveryDocument(origin: origin, tenant: tenant.identifier))
    case .keys:
      return DemoAnswer(status: 200, json: keySet)
    case .token:
      guard request.method == "POST" else { throw .postOnly(received: request.method) }
      let tokenRequest = try TokenEndpointRequest(body: request.body.bytes, authorization: request["authorization"])
      let claims = try ClientCredentialsGrant.claims(for: tokenRequest, in: tenant)
      do throws(CryptoError) {
        return try issue(claims, in: tenant, now: now)
      } catch {
        throw .signing(error)
      }
    }
  }

  private func issue(_ granted: JWTClaims, in tenant: Tenant, now: UnixTime) throws(CryptoError) -> DemoAnswer {
    var claims = granted
    claims.issuer = issuer(tenant: tenant.identifier)
    claims.issuedAt = now
    claims.notBefore = now
    claims.expiresAt = now + tokenLifetime
    claims.version = "2.0"
    claims.tokenIdentifier = try Base64URL.encode(RandomBytes.make(16))
    var answer = try DemoAnswer(status: 200, json: TokenDocument(signer.token(claims), lifetime: tokenLifetime))
    let application = claims.application.flatMap(tenant.application)?.displayName ?? "?"
    let api = claims.audiences.first.flatMap(tenant.api)?.identifierURI ?? "?"
    let roles = claims.roles.isEmpty ? "no roles" : claims.roles.joined(separator: " ")
    answer.note = "token for \(application) at \(api): \(roles)"
    return answer
  }
}
