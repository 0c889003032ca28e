// Tokens in the place of a password: Azure Managed Redis takes an object id and an access token of Entra.

internal import Bytes
internal import Platform
internal import Tokens

/// User and password of a connection.
struct RedisCredential: Sendable {
  /// Differs if another token was obtained; 0 is a password, which is always the same one.
  var id: UInt64 = 0
  /// nil is the server's default user.
  var user: String?
  var password: Secret
}

/// The tokens with which connections enter a server, in memory: the cache that they open cannot hold them.
package final class RedisTokens: Sendable {
  private struct State {
    var subscription: TokenSubscription
    var newest: BearerValue?
    var keeping: Task<Void, Never>?
  }

  /// Wait of a connection for its token.
  private static let patience = Duration.seconds(5)

  private let user: String?
  private let now: @Sendable () -> UnixTime
  private let broker: TokenBroker
  private let state: Locked<State>

  /// Begins to request a token.
  /// - Parameter user: the object id; nil takes the one that the token names.
  package init(
    _ subscription: TokenSubscription, user: String?, _ surroundings: TokenBroker.Surroundings
  ) {
    let state = Locked(State(subscription: subscription))
    (self.user, self.state, now) = (user, state, surroundings.now)
    var surroundings = surroundings
    surroundings.patience = { do { try await Task.sleep(for: Self.patience) } catch {} }
    surroundings.publish = { key, value in
      state.withLock { if key == $0.subscription.key { $0.newest = value } }
    }
    broker = TokenBroker(surroundings)
    keep(subscription)
  }

  deinit { state.withLock { $0.keeping?.cancel() } }

  /// Changes to another configuration. The held token serves until a new credential has obtained one.
  package func follow(_ subscription: TokenSubscription) {
    state.withLock { $0.subscription = subscription }
    keep(subscription)
  }

  private func keep(_ subscription: TokenSubscription) {
    let task = Task { [broker] in
      await broker.follow([subscription])
      await broker.keepReady([subscription])
    }
    let former = state.withLock { state in
      defer { state.keeping = task }
      return state.keeping
    }
    former?.cancel()
  }

  /// The newest token; nil before the first. To ask for it is to use it: a due renewal begins.
  var newest: RedisCredential? {
    let (value, subscription) = state.withLock { ($0.newest, $0.subscription) }
    if let value, value.claimsRefresh(at: now()) { broker.refreshBehind(subscription) }
    return value.map(credential)
  }

  /// A usable token for a new connection.
  func credential() async throws(RedisFailure) -> RedisCredential {
    let subscription = state.withLock { $0.subscription }
    let value: BearerValue
    do throws(AcquisitionError) {
      value = try await broker.bearer(for: subscription)
    } catch {
      // After a reload, that of the former credential.
      guard let held = state.withLock({ $0.newest }), held.isUsable(at: now()) else {
        throw .token(application: subscription.application.name, error)
      }
      value = held
    }
    let credential = credential(value)
    if credential.user == nil { throw .nameless(application: subscription.application.name) }
    return credential
  }

  private func credential(_ value: BearerValue) -> RedisCredential {
    // The server verifies the token's `oid`.
    let object = SignedJWT.claims(of: value.token.revealed())?.object
    return RedisCredential(id: value.id, user: user ?? object, password: value.token)
  }
}
