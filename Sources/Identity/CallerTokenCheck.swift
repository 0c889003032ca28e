// Owns the judgement of tokens that callers bring for themselves: whose they must be, for whom, and the issuer's keys, fetched when
// they are first needed and again when a token names a key nobody knows.

internal import HTTPClient
public import Tokens

/// Why a caller's token is not enough.
public enum CallerTokenRefusal: Error, Sendable, Hashable {
  /// It is none, or not one to be believed.
  case untrusted
  /// The issuer's keys cannot be had, so nobody can tell.
  case issuerUnavailable
}

/// Judges callers' tokens by issuer, audience, keys and times.
public actor CallerTokenCheck {
  /// Seconds for which keys are not fetched again for a token with an unknown key: anybody can name one.
  private static let leastAge: Int64 = 60
  /// Seconds after which keys are fetched again anyway, so that a withdrawn key is not believed for ever.
  private static let greatestAge: Int64 = 3600

  private let issuer: Application
  private let audiences: Set<String>
  private let now: @Sendable () -> UnixTime
  private let directory: ProviderDirectory
  private var keys: SigningKeys?
  private var fetchedAt = UnixTime(0)
  private var flight: Task<Bool, Never>?

  /// Tokens that `issuer`'s authority issues for one of `audiences`. Its client id plays no part.
  public init(issuer: Application, audiences: Set<String>, now: @escaping @Sendable () -> UnixTime) {
    self.issuer = issuer
    self.audiences = audiences
    self.now = now
    directory = ProviderDirectory(now: now)
  }

  /// Believes a token until the returned instant.
  public func accept(_ text: String) async throws(CallerTokenRefusal) -> UnixTime {
    let token: SignedJWT
    do throws(JWTFormatError) {
      token = try SignedJWT(text)
    } catch {
      throw .untrusted
    }
    let age = now() - fetchedAt
    if keys == nil || !(0..<Self.greatestAge).contains(age) {
      guard await fetchKeys() else { throw .issuerUnavailable }
    }
    do throws(JWTRejection) {
      return try await judge(token)
    } catch {
      guard case .unknownKey = error, now() - fetchedAt >= Self.leastAge, await fetchKeys() else { throw .untrusted }
    }
    do throws(JWTRejection) {
      return try await judge(token)
    } catch {
      throw .untrusted
    }
  }

  private func judge(_ token: SignedJWT) async throws(JWTRejection) -> UnixTime {
    guard let keys, let metadata = await directory.knownMetadata(for: issuer) else {
      throw .unknownKey(identifier: nil)
    }
    let rule = JWTValidation(
      issuer: metadata.issuer, audiences: audiences, algorithms: [.rs256, .ps256], leeway: 60)
    let claims = try rule.accept(token, now: now()) { keys.verdict($0, $1) }
    guard let expiresAt = claims.expiresAt else { throw .withoutExpiry }
    return expiresAt
  }

  /// Whether there are keys now. Keys that are known stay where fetching fails.
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
      fetchedAt = now()
      return true
    } catch {
      return keys != nil
    }
  }
}
