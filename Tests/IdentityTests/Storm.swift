import Testing
import Tokens

@testable import Identity

/// The number of callers, of a thousand at once, that got each token. The provider holds its answers until `requests`
/// have arrived, those before the storm included.
func storm(
  at broker: TokenBroker, _ subscription: TokenSubscription, of provider: ScriptedProvider, requests: Int
) async -> [String?: Int] {
  await provider.hold()
  return await withTaskGroup(of: String?.self) { group in
    for _ in 0..<1000 {
      group.addTask {
        do { return try await broker.bearer(for: subscription).revealedToken() } catch { return nil }
      }
    }
    group.addTask {
      await provider.arrival(of: requests)
      await provider.release()
      return "released"
    }
    return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }
}
