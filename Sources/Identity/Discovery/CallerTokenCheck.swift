// Judges callers' tokens: by issuer, audience, and the issuer's keys, which are fetched when they are first needed and
// again when a token names an unknown key.

package import Bytes
internal import HTTPClient
internal import Tokens

/// The reason why a caller's token is refused.
package enum CallerTokenRefusal: Error, Sendable, Hashable {
  /// It is not a JWT, or not valid.
  case untrusted(CallerTokenFlaw)
  /// The issuer's keys cannot be fetched, so the token cannot be judged.
  case issuerUnavailable
}

/// The fault of a caller's token. The log has it, and no answer: a forger learns nothing.
package enum CallerTokenFlaw: Error, Sendable, Hashable {
  case format(JWTFormatError)
  case token(JWTRejection)
  case kind(AccessTokenRejection)
}

/// The facts about a caller's verified token.
package struct BelievedClaims: Sendable, Hashable {
  /// The end of the time for which it is believed without another check.
  package var until: UnixTime
  /// Its end.
  package var expiresAt: UnixTime
  /// The tenant that issued it, if it names one.
  package var tenant: String?
  /// Its subject: Entra's object id, else `sub`.
  package var subject: String?
}

/// Judges callers' tokens by issuer, audience, keys and times.
package actor CallerTokenCheck {
  private let issuer: Application
  /// The authority, for the log.
  package nonisolated let authority: String
  private let audiences: Set<String>
  private let now: @Sendable () -> UnixTime
  private let directory: ProviderDirectory
  private var keys: SigningKeys?
  private var age = SigningKeyAge()
  private var flight: Task<Bool, Never>?

  /// Tokens that `issuer`'s authority issues for one of `audiences`. Its client id plays no part.
  package init(issuer: Application, audiences: Set<String>, now: @escaping @Sendable () -> UnixTime) {
    self.issuer = issuer
    authority = issuer.authority.description
    self.audiences = issuer.authority.audiences(audiences)
    self.now = now
    directory = ProviderDirectory(now: now)
  }

  /// Verifies a token. `certificate` is the SHA-256 of the certificate that the caller has shown; empty if it has shown
  /// none.
  ///
  /// Everything that needs no key is judged first: a token that anyone can write costs the issuer no request.
  package func accept(_ text: String, certificate: [UInt8] = []) async throws(CallerTokenRefusal) -> BelievedClaims {
    let token: SignedJWT
    do throws(CallerTokenFlaw) {
      token = try Self.read(text)
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
    do throws(CallerTokenFlaw) {
      return try await judge(token)
    } catch {
      guard case .token(.unknownKey) = error, age.mayTry(at: now()), await fetchKeys() else { throw .untrusted(error) }
    }
    do throws(CallerTokenFlaw) {
      return try await judge(token)
    } catch {
      throw .untrusted(error)
    }
  }

  private static func read(_ text: String) throws(CallerTokenFlaw) -> SignedJWT {
    do throws(JWTFormatError) {
      return try SignedJWT(text)
    } catch {
      throw .format(error)
    }
  }

  private func rule(_ issuers: Set<String>) -> JWTValidation {
    JWTValidation(issuers: issuers, audiences: audiences, algorithms: [.rs256, .ps256], leeway: 60)
  }

  /// Judges everything that needs no key; without metadata, the issuer as far as its name shows.
  private func judgeUnproven(
    _ token: SignedJWT, _ metadata: ProviderMetadata?, _ certificate: [UInt8]
  ) throws(CallerTokenFlaw) {
    let authority = issuer.authority
    let issuers =
      if let metadata {
        authority.issuers(of: token, named: metadata.issuer)
      } else {
        authority.mayIssue(token) ? Set(token.claims.issuer.map { [$0] } ?? []) : []
      }
    do throws(JWTRejection) {
      try rule(issuers).judgeUnproven(token, now: now())
    } catch {
      throw .token(error)
    }
    do throws(AccessTokenRejection) {
      try AccessTokenValidation(authority).judge(token, certificate: certificate)
    } catch {
      throw .kind(error)
    }
  }

  /// Judges signature, issuer, audience and times.
  private func judge(_ token: SignedJWT) async throws(CallerTokenFlaw) -> BelievedClaims {
    guard let keys, let metadata = await directory.knownMetadata(for: issuer) else {
      throw .token(.unknownKey(identifier: nil))
    }
    do throws(JWTRejection) {
      let claims = try rule(issuer.authority.issuers(of: token, named: metadata.issuer)).accept(token, now: now()) {
        keys.verdict($0, $1)
      }
      guard let expiresAt = claims.expiresAt else { throw .withoutExpiry }
      return BelievedClaims(
        until: min(expiresAt, age.believedUntil), expiresAt: expiresAt, tenant: claims.tenant,
        subject: claims.object ?? claims.subject)
    } catch {
      throw .token(error)
    }
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

extension CallerTokenFlaw: CustomStringConvertible {
  /// The words for the log. Values of the token are bounded and printable.
  package var description: String {
    switch self {
    case .format(.parts): "it is opaque: a JWT has three parts"
    case .format(.tooLong): "it is longer than 64 KiB"
    case .format(.base64url(let part, _)): "its \(part) is not base64url"
    case .format(.json(let part)): "its \(part) is not the JSON object of a JWT"
    case .kind(let rejection): rejection.rawValue
    case .token(.algorithm(let name)): "its algorithm \(Self.quoted(name)) is not RS256 or PS256"
    case .token(.criticalExtension): "its header demands an extension (crit)"
    case .token(.unknownKey(let name)): "its key \(Self.quoted(name ?? "")) is none of the issuer's"
    case .token(.signature): "its signature is not the issuer's, or the key is another issuer's"
    case .token(.issuer(let name)): "its issuer \(Self.quoted(name ?? "")) is not the authority's"
    case .token(.audience(let names)):
      "its audience \(names.prefix(4).map(Self.quoted).joined(separator: ", ")) is none of callers.bearer"
    case .token(.withoutExpiry): "it has no exp"
    case .token(.expired(let time)): "it expired at \(time.seconds)"
    case .token(.notYetValid(let time)): "it is not valid before \(time.seconds)"
    }
  }

  private static func quoted(_ text: String) -> String { "'\(text.printable(limit: 120))'" }
}
