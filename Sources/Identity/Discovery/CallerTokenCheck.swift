package import Bytes
package import Tokens

/// The reason why a caller's token is refused.
package enum CallerTokenRefusal: Error, Sendable, Hashable {
  /// It is not a JWT, or not valid. The log has the reason, and no answer: a forger learns nothing.
  case untrusted(JWTRefusal)
  /// It is valid, and lacks these scopes.
  case withoutScopes(ScopeSet)
  /// The issuer's keys cannot be fetched, so the token cannot be judged.
  case issuerUnavailable
}

/// The facts about a caller's verified token.
package struct BelievedClaims: Sendable, Hashable {
  /// The end of the time for which it is accepted without another check.
  package var until: UnixTime
  package var expiresAt: UnixTime
  /// The tenant that issued it, if it names one.
  package var tenant: String?
  /// Its subject: Entra's object id, else `sub`.
  package var subject: String?
}

/// Judges callers' tokens by issuer, audience, times and the issuer's keys, which are fetched when they are needed
/// first, and again when a token names an unknown key.
package actor CallerTokenCheck {
  private let issuer: Application
  /// The authority, for the log.
  package nonisolated let authority: String
  private let audiences: Set<String>
  private let scopes: ScopeSet
  private let now: @Sendable () -> UnixTime
  private let directory: ProviderDirectory
  private var keys: SigningKeys?
  private var age = SigningKeyAge()
  private var flight: Task<Bool, Never>?

  /// Tokens that `issuer`'s authority issues for one of `audiences`, with all of `scopes`. Its client id plays no part.
  package init(
    issuer: Application, audiences: Set<String>, scopes: ScopeSet = .none, now: @escaping @Sendable () -> UnixTime
  ) {
    self.issuer = issuer
    authority = issuer.authority.description
    self.audiences = issuer.authority.audiences(audiences)
    self.scopes = scopes
    self.now = now
    directory = ProviderDirectory(now: now)
  }

  /// Verifies a token; `certificate` is the SHA-256 of the one that the caller has shown, empty if none. What needs no
  /// key is judged first: a token that anyone can write costs the issuer no request.
  package func accept(_ text: String, certificate: [UInt8] = []) async throws(CallerTokenRefusal) -> BelievedClaims {
    let token: SignedJWT
    do throws(JWTRefusal) {
      token = try SignedJWT(text)
      try judgeUnproven(token, await directory.knownMetadata(for: issuer), certificate)
    } catch {
      throw .untrusted(error)
    }
    switch age.need(at: now()) {
    case .none: break
    case .refresh: _ = await fetchKeys()
    case .keys: guard await fetchKeys() else { throw .issuerUnavailable }
    case .pause: throw .issuerUnavailable
    }
    let claims = try await judgeTwice(token)
    // Only the issuer's own tokens are told what they lack.
    let missing = issuer.authority.scopes(scopes, missingIn: token.claims, audiences: audiences)
    if !missing.isEmpty { throw .withoutScopes(missing) }
    return claims
  }

  /// Judges a token, again with new keys if it names an unknown one.
  private func judgeTwice(_ token: SignedJWT) async throws(CallerTokenRefusal) -> BelievedClaims {
    do throws(JWTRefusal) {
      return try await judge(token)
    } catch {
      guard case .unknownKey = error, age.mayTry(at: now()), await fetchKeys() else { throw .untrusted(error) }
    }
    do throws(JWTRefusal) { return try await judge(token) } catch { throw .untrusted(error) }
  }

  /// The issuer as its metadata spell it, for callers' clients; nil while those cannot be fetched.
  package func issuerName() async -> String? {
    if await directory.knownMetadata(for: issuer) == nil, age.need(at: now()) == .keys { _ = await fetchKeys() }
    return await directory.knownMetadata(for: issuer)?.issuer
  }

  private func rule(_ issuers: Set<String>) -> JWTValidation {
    JWTValidation(issuers: issuers, audiences: audiences, algorithms: [.rs256, .ps256], leeway: 60)
  }

  /// Judges everything that needs no key; without metadata, the issuer as far as its name shows.
  private func judgeUnproven(
    _ token: SignedJWT, _ metadata: ProviderMetadata?, _ certificate: [UInt8]
  ) throws(JWTRefusal) {
    let authority = issuer.authority
    let issuers =
      if let metadata {
        authority.issuers(of: token, named: metadata.issuer)
      } else {
        authority.mayIssue(token) ? Set(token.claims.issuer.map { [$0] } ?? []) : []
      }
    try rule(issuers).judgeUnproven(token, now: now())
    try authority.judgeAccess(token, certificate: certificate)
  }

  /// Judges signature, issuer, audience and times.
  private func judge(_ token: SignedJWT) async throws(JWTRefusal) -> BelievedClaims {
    guard let keys, let metadata = await directory.knownMetadata(for: issuer) else {
      throw .unknownKey(identifier: nil)
    }
    let claims = try rule(issuer.authority.issuers(of: token, named: metadata.issuer)).accept(token, now: now()) {
      keys.verdict($0, $1)
    }
    guard let expiresAt = claims.expiresAt else { throw .withoutExpiry }
    return BelievedClaims(
      until: min(expiresAt, age.believedUntil), expiresAt: expiresAt, tenant: claims.tenant,
      subject: claims.object ?? claims.subject)
  }

  /// True if the keys are the issuer's of this moment. If fetching fails, known keys stay for a while.
  private func fetchKeys() async -> Bool {
    if let flight { return await flight.value }
    let task = Task { await self.fetched() }
    flight = task
    defer { flight = nil }
    return await task.value
  }

  private func fetched() async -> Bool {
    do throws(AcquisitionError) {
      let metadata = try await directory.metadata(for: issuer)
      keys = try await SigningKeys.fetch(issuer, metadata, now: now())
      age.fetched(at: now())
      return true
    } catch {
      age.failed(at: now())
      return false
    }
  }
}
