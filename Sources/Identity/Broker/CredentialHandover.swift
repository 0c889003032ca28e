package import Bytes
package import Tokens

/// A held token that serves until a changed credential has obtained its own.
package struct CredentialHandover: Sendable, Hashable {
  /// The application's name in the configuration.
  package var application: String
  package var scopes: ScopeSet
  package var servedUntil: UnixTime

  /// Maps each key of a new configuration that differs from a former one in the credential alone to that former key.
  ///
  /// The application of the same name comes first. A renamed one takes over from a key that the new configuration
  /// lacks; an application that is added beside one with the same client id takes over nothing.
  static func predecessors(
    of next: [TokenSubscription], among former: [TokenSubscription]
  ) -> [AcquisitionKey: AcquisitionKey] {
    let known = Set(former.map(\.key))
    let wanted = Set(next.map(\.key))
    var predecessors: [AcquisitionKey: AcquisitionKey] = [:]
    for subscription in next where !known.contains(subscription.key) {
      let candidates = former.filter { $0.key.differs(fromCredentialOf: subscription.key) }
      let predecessor =
        candidates.first { $0.application.name == subscription.application.name }
        ?? candidates.first { !wanted.contains($0.key) }
      predecessors[subscription.key] = predecessor?.key
    }
    return predecessors
  }
}

extension AcquisitionKey {
  /// True if two keys are equal but for the credential.
  fileprivate func differs(fromCredentialOf other: AcquisitionKey) -> Bool {
    var same = self
    same.credential = other.credential
    return self != other && same == other
  }
}

extension BearerValue {
  /// The same token, to be renewed at once.
  var dueNow: BearerValue {
    BearerValue(
      token,
      lifetime: TokenLifetime(
        obtainedAt: lifetime.obtainedAt, refreshAt: lifetime.obtainedAt, expiresAt: lifetime.expiresAt),
      scopes: scopes, origin: origin)
  }
}

extension TokenBroker {
  /// Lets held tokens serve whose credential another configuration replaces: each until the new credential has obtained
  /// one. Call it before that configuration is in force, and `follow` after.
  @discardableResult
  package func prepare(_ next: [TokenSubscription], succeeding former: [TokenSubscription]) -> [CredentialHandover] {
    let now = surroundings.now()
    var handovers: [CredentialHandover] = []
    let subscriptions = Dictionary(next.map { ($0.key, $0) }) { first, _ in first }
    for (key, formerKey) in CredentialHandover.predecessors(of: next, among: former) {
      // A token that is bound to the former certificate is useless with the new one.
      guard let subscription = subscriptions[key], let held = states[formerKey]?.value, held.isUsable(at: now),
        subscription.canUse(held.token)
      else { continue }
      states[key, default: TokenState(subscription: subscription)].inherit(held.dueNow)
      handovers.append(
        CredentialHandover(
          application: subscription.application.name, scopes: key.scopes, servedUntil: held.lifetime.expiresAt))
    }
    return handovers.sorted {
      ($0.application, $0.scopes.description) < ($1.application, $1.scopes.description)
    }
  }
}
