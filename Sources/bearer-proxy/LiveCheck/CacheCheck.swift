// The check of the token store: reached, opened, read and locked. Nothing is written there but a lock,
// which is removed again.

import Bytes
import HTTPClient
import Identity
import Platform
import Telemetry
import Tokens

/// The cache of a configuration, and what it takes to try it.
struct CacheCheck {
  let cache: CacheLocation
  let loop: EventLoop
  let resolver: Resolver

  /// Opens the cache on the way; what keeps it from being read is among the steps.
  func check() async -> (steps: [CheckStep], store: CacheStore) {
    var steps = await way()
    let reading = CheckTrial(.cacheReading)
    let store = await cache.open(loop: loop, resolver: resolver) { _ in }
    guard let place = cache.place, steps.allSatisfy({ $0.verdict == .ok }) else { return (steps, store) }
    if let error = store.blindness { return (steps + [failure(of: reading, error, place)], store) }
    let count = await store.snapshot().homeAccountIDs.count
    let people =
      store.isComplete ? (count == 1 ? "1 person" : "\(count) people") : "more than \(CacheStore.holdLimit) people"
    steps.append(reading.end(.ok, "\(place): \(people)"))
    let lock = CheckTrial(.cacheLock)
    do throws(CacheStoreError) {
      try await store.tryLock()
      steps.append(lock.end(.ok, "taken, and given back"))
    } catch {
      steps.append(failure(of: lock, error, place))
    }
    return (steps, store)
  }

  private func way() async -> [CheckStep] {
    guard case .redis(let server, let tls, _, _) = cache else { return [] }
    // Of several, some may be away.
    guard server.places.count == 1 else { return [] }
    let origin = Origin(host: server.places[0].host, port: server.places[0].port, tls: tls)
    let result = await ConnectionProbe(loop: loop, resolver: resolver).connect(to: origin, within: .seconds(2))
    return CheckStep.steps(of: result, name: .cacheName, connection: .cacheConnection, tls: .cacheTLS) { stage, error in
      Cure(wayToCache: error, isHandshake: stage == .tls).words()
    }
  }

  private func failure(of trial: CheckTrial, _ error: CacheStoreError, _ place: String) -> CheckStep {
    trial.end(.failed, error.description(path: place), advice: error.cure.words())
  }
}
