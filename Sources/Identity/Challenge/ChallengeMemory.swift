// Owns what the routes of a process still need a person for, from the refusal to the sign-in that meets it. It holds no token. Where
// it is shared with other processes, the file is ChallengeFile's.

internal import Network
public import Tokens

/// What each route needs a sign-in to bring. Any thread may ask and tell; nothing here waits for a disk.
public final class ChallengeMemory: Sendable {
  private struct State {
    var needs: [String: SignInNeed] = [:]
  }

  private let state = Locked(State())
  private let now: @Sendable () -> UnixTime

  /// An empty memory. It has one entry for each route at most.
  public init(now: @escaping @Sendable () -> UnixTime) {
    self.now = now
  }

  /// Remembers a need beside what the route needed before.
  public func remember(_ need: SignInNeed, route: String) {
    state.withLock { state in
      if let known = state.needs[route], !known.isOver(at: need.since) {
        state.needs[route] = known.merged(with: need)
      } else {
        state.needs[route] = need
      }
    }
  }

  /// What a sign-in for a route has to bring; nil where nothing special.
  public func need(of route: String) -> SignInNeed? {
    let now = now()
    return state.withLock { $0.needs[route] }.flatMap { $0.isOver(at: now) ? nil : $0 }
  }

  /// What every route needs that needs something, by name.
  public func needs() -> [String: SignInNeed] {
    let now = now()
    return state.withLock { $0.needs }.filter { !$0.value.isOver(at: now) }
  }

  /// Forgets the needs of these routes that a sign-in has met.
  public func met(by sign: SignInNeed, routes: some Sequence<String>) {
    state.withLock { state in
      for route in routes where state.needs[route]?.isMet(by: sign) == true { state.needs[route] = nil }
    }
  }
}
