// Owns one access token in the form in which requests carry it. Immutable but for the note of who renews it.

public import Bytes
internal import Synchronization
public import Tokens

/// A token rendered once, shared by every event loop.
///
/// A loop compares `isUsable` with its clock, writes `bytes`, and calls `TokenBroker.refreshBehind` where `claimsRefresh`
/// says so: once per value, not once per loop or request.
public final class BearerValue: Sendable {
  /// Tells this exact token from every other of this process.
  public let id: UInt64
  /// When it arrived, is renewed, and ends.
  public let lifetime: TokenLifetime
  /// What the provider granted; may be less than was asked for.
  public let scopes: ScopeSet
  /// Whose it is and where it came from.
  public let origin: TokenOrigin
  private let rendered: Secret
  // Seconds since 1970 from when on somebody may renew; the maximum while somebody does.
  private let refreshDue: Atomic<Int64>
  // Seconds since 1970 until when it may be sent: the expiry, or the minimum once it is withdrawn.
  private let usableUntil: Atomic<Int64>

  private static let lastID = Atomic<UInt64>(0)

  /// Renders a token that has arrived.
  public init(_ token: Secret, lifetime: TokenLifetime, scopes: ScopeSet, origin: TokenOrigin = TokenOrigin()) {
    id = Self.lastID.add(1, ordering: .relaxed).newValue
    self.lifetime = lifetime
    self.scopes = scopes
    self.origin = origin
    rendered = Secret(prefix: "Bearer ", token)
    refreshDue = Atomic(lifetime.refreshAt.seconds)
    usableUntil = Atomic(lifetime.expiresAt.seconds)
  }

  /// The value of an `Authorization` field: `Bearer`, a space, the token (RFC 6750 §2.1).
  public var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    // The secret lives as long as this object, which nothing lets go of it before.
    get {
      let secret = rendered
      let span = secret.bytes
      return _overrideLifetime(span, borrowing: self)
    }
  }

  /// The token without its scheme.
  public var token: Secret {
    bytes.extracting(droppingFirst: "Bearer ".utf8.count).withUnsafeBufferPointer { Secret($0) }
  }

  /// The token without its scheme as text, for a person who asked to see it.
  public func revealedToken() -> String {
    token.revealed()
  }

  /// Whether a request may carry it: until its expiry, not a second longer, and not after it was withdrawn.
  public func isUsable(at now: UnixTime) -> Bool {
    now.seconds < usableUntil.load(ordering: .relaxed) && lifetime.obtainedAt <= now
  }

  /// Ends its use everywhere at once, whoever still holds it: the account behind it is gone.
  func withdraw() {
    usableUntil.store(.min, ordering: .relaxed)
  }

  /// Whether the caller is the one to have it renewed now. True once; again only after a renewal failed and its pause is over.
  public func claimsRefresh(at now: UnixTime) -> Bool {
    let due = refreshDue.load(ordering: .relaxed)
    guard now.seconds >= due else { return false }
    return refreshDue.compareExchange(expected: due, desired: .max, ordering: .relaxed).exchanged
  }

  /// Lets somebody claim the renewal again from an instant on.
  func releaseRefresh(at instant: UnixTime) {
    refreshDue.store(instant.seconds, ordering: .relaxed)
  }
}
