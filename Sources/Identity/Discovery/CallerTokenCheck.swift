// The judgement of tokens that callers bring for themselves: whose they must be, for whom, and the issuer's keys,
// fetched when they are first needed and again when a token names an unknown key.

package import Bytes
internal import HTTPClient
internal import Tokens

/// Why a caller's token is not enough.
package enum CallerTokenRefusal: Error, Sendable, Hashable {
  /// It is not a JWT, or not valid.
  case untrusted
  /// The issuer's keys cannot be fetched, so the token cannot be judged.
  case issuerUnavailable
}

/// What is known of a caller's token that was believed.
package struct BelievedClaims: Sendable, Hashable {
  /// Until when it is believed without another look.
  package var until: UnixTime
  /// When it ends.
  package var expiresAt: UnixTime
  /// The tenant that issued it, where it names one.
  package var tenant: String?
  /// Whom it is about: Entra's object id, else `sub`.
  package var subject: String?
}

/// Judges callers' tokens by issuer, audience, keys and times.
package actor CallerTokenCheck {
  private let issuer: Application
  private let audiences: Set<String>
  private let now: @Sendable () -> UnixTime
  private let directory: ProviderDirectory
  private var keys: SigningKeys?
  private var age = SigningKeyAge()
  private var flight: Task<Bool, Never>?

  /// Tokens that `issuer`'s authority issues for one of `audiences`. Its client id plays no part.
  package init(issuer: Application, audiences: Set<String>, now: @escaping @Sendable () -> UnixTime) {
    self.issuer = issuer
    self.audiences = audiences
    self.now = now
    directory = ProviderDirectory(now: now)
  }

  /// Believes a token. `certificate` is the SHA-256 of the certificate that the caller has
  /// shown; empty where it has shown none.
  package func accept(_ text: String, certificate: [UInt8] = []) async throws(CallerTokenRefusal) -> BelievedClaims {
    let token: SignedJWT
    do throws(JWTFormatError) {
      token = try SignedJWT(text)
    } catch {
      throw .untrusted
    }
    switch age.need(at: now()) {
    case .none: break
    case .refresh: _ = await fetchKeys()
    case .keys: guard await fetchKeys() else { throw .issuerUnavailable }
    }
    do throws(Rejection) {
      return try await judge(token, certificate)
    } catch {
      guard case .token(.unknownKey) = error, age.mayTry(at: now()), await fetchKeys() else { throw .untrusted }
    }
    do throws(Rejection) {
      return try await judge(token, certificate)
    } catch {
      throw .untrusted
    }
  }

  private enum Rejection: Error {
    case token(JWTRejection)
    case kind(AccessTokenRejection)
  }

  private func judge(_ token: SignedJWT, _ certificate: [UInt8]) async throws(Rejection) -> BelievedClaims {
    guard let keys, let metadata = await directory.knownMetadata(for: issuer) else {
      throw .token(.unknownKey(identifier: nil))
    }
    let rule = JWTValidation(
      issuer: issuer.authority.issuer(of: token, named: metadata.issuer), audiences: audiences,
      algorithms: [.rs256, .ps256], leeway: 60)
    let claims: JWTClaims
    do throws(JWTRejection) {
      claims = try rule.accept(token, now: now()) { keys.verdict($0, $1) }
    } catch {
      throw .token(error)
    }
    do throws(AccessTokenRejection) {
      try AccessTokenValidation(issuer.authority).judge(token, certificate: certificate)
    } catch {
      throw .kind(error)
    }
    guard let expiresAt = claims.expiresAt else { throw .token(.withoutExpiry) }
    return BelievedClaims(
      until: min(expiresAt, age.believedUntil), expiresAt: expiresAt, tenant: claims.tenant,
      subject: claims.object ?? claims.subject)
  }

  /// Whether the keys are the issuer's of this moment. Keys that are known stay where fetching fails, for a while.
  private func fetchKeys() async -> Bool {
    if let flight { return await flight.value }
    let task = Task { await self.fetched() }
    flight = task
    defer { flight = nil }
    return await task.value
  }

  private func fetched() async -> Bool {
    do throws(AcquisitionFailure) {
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
