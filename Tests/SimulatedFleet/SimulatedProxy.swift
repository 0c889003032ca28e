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
  /// Its place among those of its process.
  fileprivate(set) var number = 0

  init(subscription: TokenSubscription, subject: String) {
    (self.subscription, self.subject) = (subscription, subject)
  }
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
    let numbers: [AcquisitionKey: Int]
    /// The token of each demand.
    var values: [BearerValue?]
    /// The tokens that were judged when a call first carried them, and their ends.
    var judged: [(id: UInt64, facts: TokenFacts)?]

    init(_ demands: [Demand]) {
      numbers = Dictionary(demands.map { ($0.subscription.key, $0.number) }) { first, _ in first }
      values = Array(repeating: nil, count: demands.count)
      judged = Array(repeating: nil, count: demands.count)
    }
  }

  private init(
    _ life: ProcessLife, _ demands: [Demand], store: CacheStore, _ schedule: Schedule, _ judge: Judge
  ) {
    self.life = life
    let numbered = demands.enumerated().map { number, demand in
      var demand = demand
      demand.number = number
      return demand
    }
    self.demands = numbered
    self.store = store
    self.schedule = schedule
    self.judge = judge
    held = Held(numbered)
    var surroundings = TokenBroker.Surroundings(
      now: { life.now }, jitter: { schedule.random.fraction() },
      sleep: { await life.sleep(Double($0)) }, filingPatience: .milliseconds(500),
      patience: { await life.sleep(10) },
      publish: { [held] key, value in if let number = held.numbers[key] { held.values[number] = value } })
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
    judge(value, demand)
    return true
  }

  /// The same if it needs no wait; nil if it does.
  func callAtOnce(_ demand: Demand) -> Bool? {
    guard life.isAlive else { return false }
    guard let value = tokenAtOnce(demand) else { return nil }
    judge.callBegan()
    judge(value, demand)
    judge.callEnded(life, after: 0, at: schedule.now)
    return true
  }

  /// The time of the world until which a call does no more than carry the held token.
  func freshUntil(_ demand: Demand) -> Double {
    guard let value = held.values[demand.number], value.isUsable(at: life.now) else { return schedule.now }
    return Double(value.lifetime.refreshAt.seconds - ProcessLife.epoch) - life.skew
  }

  private func judge(_ value: BearerValue, _ demand: Demand) {
    if let judged = held.judged[demand.number], judged.id == value.id {
      return judge.sent(judged.facts, by: life, at: schedule.now)
    }
    let facts = judge.sent(
      value.revealedToken(), for: demand.subscription.key, subject: demand.subject, by: life, at: schedule.now)
    held.judged[demand.number] = facts.map { (value.id, $0) }
  }

  private func tokenAtOnce(_ demand: Demand) -> BearerValue? {
    guard let value = held.values[demand.number], value.isUsable(at: life.now) else { return nil }
    if value.claimsRefresh(at: life.now) { broker.refreshBehind(demand.subscription) }
    return value
  }

  private func token(_ demand: Demand) async -> BearerValue? {
    if let value = tokenAtOnce(demand) { return value }
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
        _ = judge.sent(
          other.revealedToken(), for: demand.subscription.key, subject: demand.subject, claims: claims, by: life,
          at: schedule.now)
      }
    } catch {}
  }

  /// True if calls are served without a wait.
  func isReady(_ demand: Demand) -> Bool {
    held.values[demand.number]?.isUsable(at: life.now) ?? false
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
