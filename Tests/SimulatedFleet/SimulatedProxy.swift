// One process with the real broker and store, and its callers as an event loop treats them.

import Bytes
import HTTPClient
import Identity
import Platform
import Tokens

/// The caches that the processes of a group share.
enum SharedPlace {
  case memory
  case file(FileModel)
  case redis(RedisModel)
}

/// A token that routes need: what a proxy follows, and the subject that a token for it has.
struct Demand {
  var subscription: TokenSubscription
  /// `app`, or a person's id.
  var subject: String
}

/// `@unchecked Sendable`: one thread.
final class SimulatedProxy: @unchecked Sendable {
  let life: ProcessLife
  let demands: [Demand]
  let store: CacheStore
  let broker: TokenBroker
  private let schedule: Schedule
  private let judge: Judge
  private let held: Held
  private var work: [Task<Void, Never>] = []

  /// The tokens of the event loops.
  private final class Held: @unchecked Sendable {
    var values: [AcquisitionKey: BearerValue] = [:]
  }

  private init(
    _ life: ProcessLife, _ demands: [Demand], store: CacheStore, _ schedule: Schedule, _ judge: Judge
  ) {
    self.life = life
    self.demands = demands
    self.store = store
    self.schedule = schedule
    self.judge = judge
    held = Held()
    var surroundings = TokenBroker.Surroundings(
      now: { life.now }, jitter: { schedule.random.fraction() },
      sleep: { await life.sleep(Double($0)) }, filingPatience: .milliseconds(500),
      patience: { await life.sleep(10) }, publish: { [held] key, value in held.values[key] = value })
    surroundings.wait = { await life.wait(for: $0) }
    broker = TokenBroker(surroundings, store: store)
  }

  /// Starts a process: it reads the cache, and keeps tokens ready.
  static func start(
    _ life: ProcessLife, _ demands: [Demand], at place: SharedPlace, timing: RedisTiming = RedisTiming(),
    _ schedule: Schedule, _ judge: Judge
  ) async -> SimulatedProxy {
    var surroundings = StoreSurroundings()
    surroundings.now = { life.monotonicNow }
    surroundings.sleep = { await life.sleep(Double(TimeSpan($0).nanoseconds) / 1e9) }
    surroundings.random = { schedule.random.next() }
    let store =
      switch place {
      case .memory: CacheStore.memory(CacheDocument(), surroundings: surroundings)
      case .file(let file):
        await CacheStore.open(FileModelBackend(file, life), surroundings: surroundings) { _ in }
      case .redis(let server):
        await CacheStore.redis(
          over: RedisModelTransport(server, life), prefix: "p:", timing: timing, surroundings: surroundings,
          holdLimit: server.holdLimit
        ) { _ in }
      }
    let proxy = SimulatedProxy(life, demands, store: store, schedule, judge)
    proxy.run(isShared: { if case .memory = place { false } else { true } }())
    return proxy
  }

  private func run(isShared: Bool) {
    let (broker, subscriptions) = (broker, demands.map(\.subscription))
    work.append(Task { await broker.keepReady(subscriptions) })
    if isShared { work.append(Task { await broker.followCache() }) }
  }

  /// Ends the tasks of a process that is over.
  func stop() {
    for task in work { task.cancel() }
    work = []
  }

  /// One call with the token of a demand, as an event loop makes it. Returns whether it carried one.
  func call(_ demand: Demand) async -> Bool {
    guard life.isAlive else { return false }
    judge.callBegan()
    let began = schedule.now
    defer { judge.callEnded(life, after: schedule.now - began, at: schedule.now) }
    guard let value = await token(demand), life.isAlive else { return false }
    judge.sent(
      value.revealedToken(), for: demand.subscription.key, subject: demand.subject, by: life, at: schedule.now)
    return true
  }

  private func token(_ demand: Demand) async -> BearerValue? {
    if let value = held.values[demand.subscription.key], value.isUsable(at: life.now) {
      if value.claimsRefresh(at: life.now) { broker.refreshBehind(demand.subscription) }
      return value
    }
    do throws(AcquisitionError) {
      return try await broker.bearer(for: demand.subscription)
    } catch {
      return nil
    }
  }

  /// A call whose token an API refuses.
  func call(_ demand: Demand, refusedFor rejection: TokenRejection) async {
    guard let value = await token(demand), life.isAlive else { return }
    judge.refused(life)
    do throws(AcquisitionError) {
      var claims: String?
      if case .claims(let wanted) = rejection { claims = wanted.text }
      if let other = try await broker.bearer(answering: rejection, about: value, for: demand.subscription) {
        judge.sent(
          other.revealedToken(), for: demand.subscription.key, subject: demand.subject, claims: claims, by: life,
          at: schedule.now)
      }
    } catch {}
  }

  /// True if calls are served without a wait.
  func isReady(_ demand: Demand) -> Bool {
    held.values[demand.subscription.key]?.isUsable(at: life.now) ?? false
  }
}

extension Application {
  /// An application of the simulated provider.
  init(_ client: String, at provider: SimulatedProvider, from life: ProcessLife, authority: Authority) {
    self.init(
      name: client, authority: authority, clientID: client, credential: .secret(Secret("secret")),
      fetch: provider.fetch(from: life))
  }
}
