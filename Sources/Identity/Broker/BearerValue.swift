package import Bytes
internal import Synchronization
public import Tokens

/// An access token in the form in which requests carry it, or a fixed credential in place of one: rendered once, shared
/// by every event loop, immutable but for the claim of its renewal.
///
/// A loop compares `isUsable` with its clock, writes `bytes`, and calls `TokenBroker.refreshBehind` if `claimsRefresh`
/// is true: once per value, not once per loop or request.
package final class BearerValue: Sendable {
  /// Unique among the tokens of this process.
  package let id: UInt64
  package let lifetime: TokenLifetime
  /// The granted scopes; may be fewer than requested.
  package let scopes: ScopeSet
  /// Its owner and source.
  package let origin: TokenOrigin
  private let rendered: Secret
  /// The name of the field if that is not `Authorization`.
  package let otherField: [UInt8]?
  /// Bytes of the token, without its scheme.
  package let tokenCount: Int
  // Seconds since 1970 from which a renewal may be claimed; the maximum while one is.
  private let refreshDue: Atomic<Int64>
  // Seconds since 1970 until which it may be sent: the expiry, or the minimum once it is withdrawn.
  private let usableUntil: Atomic<Int64>

  private static let lastID = Atomic<UInt64>(0)

  /// Renders a token that has arrived.
  package init(_ token: Secret, lifetime: TokenLifetime, scopes: ScopeSet, origin: TokenOrigin = TokenOrigin()) {
    id = Self.lastID.add(1, ordering: .relaxed).newValue
    self.lifetime = lifetime
    self.scopes = scopes
    self.origin = origin
    rendered = Secret(prefix: "Bearer ", token)
    otherField = nil
    tokenCount = token.count
    refreshDue = Atomic(lifetime.refreshAt.seconds)
    usableUntil = Atomic(lifetime.expiresAt.seconds)
  }

  /// A credential that the configuration has. It does not expire.
  /// - Parameters:
  ///   - otherField: the field's name if that is not `Authorization`.
  ///   - schemeCount: bytes of the scheme and the space behind it.
  package init(fixed value: Secret, in otherField: String?, schemeCount: Int) {
    id = Self.lastID.add(1, ordering: .relaxed).newValue
    lifetime = TokenLifetime(obtainedAt: UnixTime(0), refreshAt: UnixTime(.max), expiresAt: UnixTime(.max))
    scopes = .none
    origin = TokenOrigin()
    rendered = value
    self.otherField = otherField.map { Array($0.utf8) }
    tokenCount = value.count - schemeCount
    refreshDue = Atomic(.max)
    usableUntil = Atomic(.max)
  }

  /// The value of the field: of an `Authorization`, `Bearer`, a space, the token (RFC 6750 §2.1).
  package var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    // The secret lives as long as this object, which keeps it until its end.
    get {
      let secret = rendered
      let span = secret.bytes
      return _overrideLifetime(span, borrowing: self)
    }
  }

  /// The token without its scheme.
  package var token: Secret {
    bytes.extracting(last: tokenCount).withUnsafeBufferPointer { Secret($0) }
  }

  /// The token without its scheme as text, for a person who asked to see it.
  package func revealedToken() -> String { token.revealed() }

  /// True if a request may carry it: until its expiry, not a second longer, and not after it was withdrawn.
  package func isUsable(at now: UnixTime) -> Bool {
    now.seconds < usableUntil.load(ordering: .relaxed) && lifetime.obtainedAt <= now
  }

  /// Ends its use everywhere at once: its account is gone.
  func withdraw() { usableUntil.store(.min, ordering: .relaxed) }

  /// True if the caller must start the renewal now. True once; again only after a renewal failed and its pause is over.
  package func claimsRefresh(at now: UnixTime) -> Bool {
    let due = refreshDue.load(ordering: .relaxed)
    guard now.seconds >= due else { return false }
    return refreshDue.compareExchange(expected: due, desired: .max, ordering: .relaxed).exchanged
  }

  /// Lets the renewal be claimed again from an instant on.
  func releaseRefresh(at instant: UnixTime) {
    refreshDue.store(instant.seconds, ordering: .relaxed)
  }
}

/// The facts about a token beside its bytes: owner, tenant, source.
public struct TokenOrigin: Sendable, Hashable {
  /// The source of a token.
  public enum Source: String, Sendable, Hashable {
    /// The provider, just now.
    case identityProvider = "identity_provider"
    /// The cache: it was obtained earlier, here or by another process.
    case cache
  }

  /// The source of the token.
  public var source = Source.identityProvider
  /// The tenant it is for, which need not be the person's own; nil if the provider has no tenants.
  public var tenant: String?
  /// Its owner; nil for an application's own.
  public var account: CachedAccount?
}

extension TokenOrigin {
  /// The origin of a token that is stored under a tenant, the person's own if the authority names none.
  init(_ source: Source, authority: Authority, realm: String?, account: CachedAccount?) {
    let tenant: String? =
      switch authority.kind {
      case .entra(.specific(let written), _): realm ?? written
      case .entra: account?.homeTenant
      case .b2c(let written, _), .ciam(let written): realm ?? written
      case .adfs, .issuer: nil
      }
    self.init(source: source, tenant: tenant, account: account)
  }
}
