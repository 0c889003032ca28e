// A world that a seed makes up: groups of processes, their caches, people, callers, and everything that goes wrong.

import Bytes
import Identity
import Tokens

/// `@unchecked Sendable`: one thread.
final class ExploredWorld: @unchecked Sendable {
  /// Some processes with one cache.
  private final class Group: @unchecked Sendable {
    let number: Int
    let place: SharedPlace
    let client: String
    let scopes: [String]
    let people: [String]
    var proxies: [SimulatedProxy] = []
    /// The end of the last time in which the cache, or a process, was not as it should be.
    var troubledUntil = -1000.0
    /// Troubles of the cache that last.
    var troubles = 0
    /// The end of the last of them, or the last restart of the cache's server.
    var cacheTroubledUntil = -1000.0

    init(number: Int, place: SharedPlace, scopes: [String], people: [String]) {
      (self.number, self.place, self.scopes, self.people) = (number, place, scopes, people)
      client = "client-\(number)"
    }

    /// The contents of the store.
    var document: CacheDocument {
      switch place {
      case .memory: CacheDocument()
      case .file(let file): file.document
      case .redis(let server): server.document(prefix: "p:")
      }
    }
  }

  let schedule: Schedule
  let judge: Judge
  private let provider: SimulatedProvider
  private let authority: Authority
  private var groups: [Group] = []
  private var filing: [Int: FilingCheck] = [:]
  private let duration: Double
  private var timing = RedisTiming()
  private var lives = 0
  private var isEnding = false
  private let endsOneAt: Int?
  /// Seconds between two readings of a Redis server.
  private let look: Double
  /// The claims that an API asks for.
  private let challenges: [Claims]
  /// True if the process that was to be killed was.
  private(set) var hasEndedOne = false
  private var chosen: ProcessLife?

  /// A world. `endsOneAt`: the first process is killed at this wait for the outside.
  init(seed: UInt64, endsOneAt: Int? = nil) throws {
    schedule = Schedule(seed: seed)
    self.endsOneAt = endsOneAt
    challenges = try ["acr", "nbf"].map { try Claims(json: #"{"access_token":{"\#($0)":{"essential":true}}}"#) }
    var rules = ProviderRules()
    rules.tokenLife = schedule.random.pick([600, 600, 1800, 3600])
    rules.retryAfter = schedule.random.pick([1, 10, 60])
    rules.tenantLimit = schedule.random.chance(0.2) ? 1 : 200
    rules.loss = schedule.random.chance(0.3) ? 0.02 : 0
    judge = Judge(tokenLife: rules.tokenLife)
    let length = schedule.random.number(in: 1.5...3)
    duration = endsOneAt == nil ? Double(rules.tokenLife) * length : 900
    provider = SimulatedProvider(rules, schedule, judge)
    authority = try Authority(SimulatedProvider.authority)
    // Often less than the usual: most steps would be polls that find nothing.
    look = schedule.random.pick([1, 5, 10, 10, 10])
    timing.look = .seconds(look)
    for number in 0..<(1 + schedule.random.below(3)) {
      let place: SharedPlace =
        switch schedule.random.below(3) {
        case 0: .memory
        case 1: .file(FileModel(schedule))
        default:
          .redis(
            RedisModel(
              schedule, isReplicated: schedule.random.chance(0.5), cells: schedule.random.pick([1, 3]),
              holdLimit: schedule.random.pick([0, 1, CacheStore.holdLimit])))
        }
      let scopes = (0...schedule.random.below(2)).map { "api.read.\($0)" }
      let people = (0...schedule.random.below(2)).map { "person-\(number)-\($0)" }
      if case .memory = place {
        groups.append(Group(number: number, place: place, scopes: scopes, people: []))
      } else {
        groups.append(Group(number: number, place: place, scopes: scopes, people: people))
      }
    }
    for group in groups {
      let look: (CacheDocument, CacheDocument) -> Void = { [schedule, judge, number = group.number] in
        judge.written($0, $1, of: number, at: schedule.now)
      }
      switch group.place {
      case .memory: continue
      case .file(let file): file.onWrite = look
      case .redis(let server): server.onWrite = look
      }
      filing[group.number] = FilingCheck(schedule, judge, document: { group.document }) {
        // A command that was sent in it waits for its answer as long as any.
        group.troubles > 0 ? .infinity : group.cacheTroubledUntil + RedisModel.answerLimit
      }
    }
    judge.onToken = { [unowned self] question, answer in
      guard let token = answer.token else { return }
      filing[question.process.group]?.follow(question, token, generation: answer.generation)
    }
    judge.isPrompt = { [unowned self] in provider.isFine(since: $0) }
    judge.isReliable = { [unowned self] group, since in
      groups[group].troubles == 0 && groups[group].troubledUntil < since
    }
  }

  /// The groups and their caches.
  var description: String {
    groups.map { group in
      switch group.place {
      case .memory: "memory"
      case .file: "file"
      case .redis(let server):
        "redis\(server.isReplicated ? " with a replica" : "") of \(server.cells) cells, held to \(server.holdLimit)"
      }
    }.joined(separator: ", ")
  }

  /// Runs the world to its end, and judges it.
  func run() {
    schedule.begin()
    for group in groups {
      Task { await self.begin(group) }
    }
    if endsOneAt == nil {
      schedule.at(schedule.random.number(in: 1...600)) { self.trouble() }
      for group in groups { schedule.at(schedule.random.number(in: 200...duration)) { self.rush(group) } }
    }
    schedule.run(until: duration)
    isEnding = true
    provider.weather = .fine
    for group in groups {
      if group.troubles > 0 { group.cacheTroubledUntil = schedule.now }
      group.troubles = 0
      heal(group)
    }
    schedule.run(until: duration + 400)
    for group in groups {
      for proxy in group.proxies where proxy.life.isAlive {
        for demand in proxy.demands { Task { _ = await proxy.call(demand) } }
      }
    }
    schedule.run(until: duration + 500)
    for group in groups {
      for person in group.people {
        judge.judge(
          person, issued: provider.generation(of: person), stored: stored(person, in: group), at: schedule.now)
      }
      for proxy in group.proxies { proxy.life.end() }
      group.proxies = []
    }
    judge.judgeEnd(at: schedule.now)
    // The processes wind up.
    schedule.run(until: duration + 1000)
    if schedule.waitingTimers > lives {
      judge.record("\(schedule.waitingTimers) timers of \(lives) processes that have ended", at: schedule.now)
    }
    for violation in judge.violations { schedule.note(violation) }
  }

  // MARK: Processes

  private func begin(_ group: Group) async {
    do {
      if !group.people.isEmpty {
        let writer = await SimulatedProxy.start(
          newLife(group, skew: 0), [], at: group.place, schedule, judge)
        for person in group.people {
          let now = writer.life.now
          let issued = try provider.signIn(person, client: group.client, scopes: "api.person", now: now)
          try await writer.store.modify { document in _ = document.add(issued, now: now) }
        }
        writer.stop()
        writer.life.end()
      }
      let count: Int
      if case .memory = group.place { count = 1 } else { count = 1 + schedule.random.below(3) }
      for _ in 0..<count { await startProxy(group) }
    } catch {
      judge.record("the world does not begin: \(error)", at: schedule.now)
    }
  }

  private func newLife(_ group: Group, skew: Double) -> ProcessLife {
    lives += 1
    let life = ProcessLife(number: lives, group: group.number, address: group.number, skew: skew, schedule)
    life.isClockMoving = true
    if skew != 0 { judge.noteWrongClock(of: life) }
    return life
  }

  private func startProxy(_ group: Group) async {
    let skew = schedule.random.chance(0.15) ? schedule.random.pick([-300.0, -30, 30, 300]) : 0
    let life = newLife(group, skew: skew)
    if endsOneAt != nil, chosen == nil {
      chosen = life
      life.endAt = endsOneAt
    }
    let application = Application(group.client, at: provider, from: life, authority: authority)
    var demands: [Demand] = []
    do {
      for scopes in group.scopes {
        demands.append(
          Demand(
            subscription: TokenSubscription(application: application, scopes: try ScopeSet(parameter: scopes)),
            subject: "app"))
      }
      for person in group.people {
        demands.append(
          Demand(
            subscription: TokenSubscription(
              application: application, subject: .account("\(person)@x.example"),
              scopes: try ScopeSet(parameter: "api.person")),
            subject: person))
      }
    } catch {
      judge.record("no scope: \(error)", at: schedule.now)
    }
    let proxy = await SimulatedProxy.start(life, demands, at: group.place, timing: timing, schedule, judge)
    life.whenOver = { [weak self, weak proxy] in
      proxy?.stop()
      self?.ended(life, group)
    }
    guard life.isAlive else { return life.whenOver() }
    group.proxies.append(proxy)
    for demand in proxy.demands {
      let pause = schedule.random.pick([20.0, 60, 600])
      Task { await self.callAgainAndAgain(proxy, demand, every: pause) }
    }
  }

  private func callAgainAndAgain(_ proxy: SimulatedProxy, _ demand: Demand, every pause: Double) async {
    while proxy.life.isAlive, !isEnding {
      for _ in 0..<(schedule.random.chance(0.1) ? 5 : 1) { Task { _ = await proxy.call(demand) } }
      if schedule.random.chance(0.01) { await proxy.call(demand, refusedFor: .invalidToken) }
      if schedule.random.chance(0.01) {
        let claims = schedule.random.pick(challenges)
        for _ in 0..<2 { Task { await proxy.call(demand, refusedFor: .claims(claims)) } }
      }
      await schedule.sleep(schedule.random.number(in: 0...(2 * pause)))
    }
  }

  private func ended(_ life: ProcessLife, _ group: Group) {
    group.proxies.removeAll { $0.life === life }
    if life === chosen { hasEndedOne = hasEndedOne || !isEnding }
    judge.ended(life) { person in stored(person, in: group) }
    group.troubledUntil = schedule.now
    guard !isEnding || group.proxies.isEmpty, schedule.now < duration + 300 else { return }
    schedule.at(schedule.now + schedule.random.number(in: 0.5...30)) { Task { await self.startProxy(group) } }
  }

  /// The generation of the refresh token that the group holds, in its place or in a process.
  private func stored(_ person: String, in group: Group) -> Int? {
    group.document.generation(of: person, client: group.client)
  }

  // MARK: Troubles

  private func trouble() {
    if isEnding { return }
    let length = schedule.random.pick([1.0, 20, 20, 120, 600, 2400])
    if schedule.random.chance(0.4) { troubleProvider(length) } else { trouble(schedule.random.pick(groups), length) }
    schedule.at(schedule.now + schedule.random.number(in: 1...600)) { self.trouble() }
  }

  private func troubleProvider(_ length: Double) {
    provider.weather = schedule.random.pick([
      .away, .silent, .slow(5), .slow(40), .failing(429), .failing(500), .failing(503),
    ])
    schedule.at(schedule.now + length) { self.provider.weather = .fine }
  }

  private func trouble(_ group: Group, _ length: Double) {
    switch schedule.random.below(4) {
    case 0:
      guard let proxy = group.proxies.isEmpty ? nil : schedule.random.pick(group.proxies) else { return }
      // At one of its next waits for the outside, wherever that is.
      proxy.life.endAt = proxy.life.waits + 1 + schedule.random.below(30)
    case 1:
      guard let proxy = group.proxies.isEmpty ? nil : schedule.random.pick(group.proxies) else { return }
      proxy.life.setClock(ahead: schedule.random.pick([-300, 0, 300]))
      judge.noteWrongClock(of: proxy.life)
    case 2: rush(group)
    default: troublePlace(group, length)
    }
  }

  /// Every process of a group needs new tokens at once, from a provider that refuses them, or takes longer than a lease
  /// lives, or than a caller waits.
  private func rush(_ group: Group) {
    guard provider.weather == .fine else { return }
    provider.weather = schedule.random.pick([.slow(8), .slow(40), .failing(429)])
    schedule.at(schedule.now + 60) { self.provider.weather = .fine }
    if schedule.random.chance(0.5) { slowPlace(group) }
    refuseAll(group)
  }

  /// An API refuses every token of a group.
  private func refuseAll(_ group: Group) {
    for proxy in group.proxies {
      for demand in proxy.demands {
        for rejection in [TokenRejection.invalidToken, .claims(challenges[0])] {
          schedule.at(schedule.now + schedule.random.number(in: 0...2)) {
            Task { await proxy.call(demand, refusedFor: rejection) }
          }
        }
      }
    }
  }

  private func troublePlace(_ group: Group, _ length: Double) {
    switch group.place {
    case .memory: return
    case .file(let file):
      if schedule.random.chance(0.5) { file.isUnwritable = true } else { file.latency = 0.1...2 }
    case .redis(let server):
      switch schedule.random.below(5) {
      case 0: server.isAway = true
      case 1: server.loss = 0.1
      case 2: server.latency = 0.1...2
      case 3:
        server.restart(with: nil)
        filing[group.number]?.serverLostData(readEvery: look)
      default:
        // A replica takes over after a while. It may be far behind.
        if schedule.random.chance(0.5) { server.lag = 0.1...3 }
        // The last write before it is lost.
        if schedule.random.chance(0.5) { refuseAll(group) }
        schedule.at(schedule.now + schedule.random.number(in: 0.01...2)) {
          server.isAway = true
          self.schedule.at(self.schedule.now + self.schedule.random.pick([0.1, 5, 20])) {
            server.failOver()
            if !server.isReplicated { self.filing[group.number]?.serverLostData(readEvery: self.look) }
            // It may not have the last writes until those who made them repeat them.
            (group.troubledUntil, group.cacheTroubledUntil) = (self.schedule.now, self.schedule.now)
            self.filing[group.number]?.troubleEnded()
          }
        }
      }
    }
    endTrouble(of: group, after: max(length, 3))
  }

  /// A lease takes long to be taken and to be ended.
  private func slowPlace(_ group: Group) {
    switch group.place {
    case .memory: return
    case .file(let file): file.latency = 0.1...2
    case .redis(let server): server.latency = 0.1...2
    }
    endTrouble(of: group, after: 60)
  }

  private func endTrouble(of group: Group, after length: Double) {
    group.troubles += 1
    schedule.at(schedule.now + length) {
      group.troubles = max(group.troubles - 1, 0)
      (group.troubledUntil, group.cacheTroubledUntil) = (self.schedule.now, self.schedule.now)
      if group.troubles == 0 {
        self.heal(group)
        self.filing[group.number]?.troubleEnded()
      }
    }
  }

  private func heal(_ group: Group) {
    switch group.place {
    case .memory: break
    case .file(let file): (file.isUnwritable, file.latency) = (false, 0.001...0.01)
    case .redis(let server): server.heal()
    }
  }
}
