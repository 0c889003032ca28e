// Ten thousand proxies at one provider: the scenarios of docs/scale.md, and their figures.

import Bytes
import HTTPClient
import Identity
import Tokens

/// A scenario: what happens to a fleet.
enum FleetScenario: String, CaseIterable {
  /// All start within a minute.
  case coldStart = "cold-start"
  /// The same, behind one address.
  case oneAddress = "one-address"
  /// One after the other is restarted within half an hour.
  case rollingRestart = "rolling-restart"
  case away5 = "away-5-min"
  case away30 = "away-30-min"
  case away90 = "away-90-min"
  /// Every request is answered with 429 for ten minutes.
  case storm = "429-storm"
  /// Clocks are off by up to five minutes.
  case clocks
  /// Twenty processes share a Redis server: it is away for half an hour.
  case redisLost = "redis-lost"
  /// It takes up to two seconds.
  case redisSlow = "redis-slow"
  /// It is emptied.
  case redisEmpty = "redis-empty"

  var usesRedis: Bool { [.redisLost, .redisSlow, .redisEmpty].contains(self) }

  /// Seconds from the start to the trouble, and its length; a joint start is the trouble itself.
  var trouble: (start: Double, length: Double) {
    switch self {
    case .coldStart, .oneAddress, .clocks: (0, 60)
    case .rollingRestart: (7200, 1800)
    case .away5: (7200, 300)
    case .away30, .redisLost, .redisSlow: (7200, 1800)
    case .away90: (7200, 5400)
    case .storm: (7200, 600)
    case .redisEmpty: (7200, 60)
    }
  }
}

/// The figures of one run.
struct FleetFigures {
  /// Provider's requests per second from a minute after the trouble until all is calm, in minutes, and in the hour
  /// after that, in five minutes.
  var recovery = RateFigures()
  var hour = RateFigures()
  /// Requests for tokens for each key and life of a token.
  var requestsPerLife = 0.0
  /// Share of calls with a valid token from the trouble's start to the end.
  var served = 0.0
  /// Seconds from the end of the trouble until 99 of 100 routes that are used have a token.
  var calm = 0.0
  /// Minutes from the end of the trouble until the last five minutes in which the provider received more than its
  /// limit; 0 if there were none after the first minute.
  var minutesAbove = 0.0
  /// Requests of each minute since the trouble's start.
  var minutes: [UInt32] = []
}

extension FleetFigures {
  /// One line of JSON.
  func json(scenario: String, seed: UInt64, size: Int) -> String {
    let members: [(String, Double)] = [
      ("recovery_mean", recovery.mean), ("recovery_peak", recovery.peak), ("recovery_ratio", recovery.ratio),
      ("hour_mean", hour.mean), ("hour_peak", hour.peak), ("hour_ratio", hour.ratio),
      ("requests_per_life", requestsPerLife), ("served", served), ("calm", calm), ("minutes_above", minutesAbove),
    ]
    return #"{"scenario": "\#(scenario)", "seed": \#(seed), "size": \#(size), "#
      + members.map { #""\#($0)": \#(($1 * 10_000).rounded() / 10_000)"# }.joined(separator: ", ")
      + #", "minutes": \#(minutes)}"#
  }
}

struct RateFigures {
  var mean = 0.0
  var peak = 0.0
  var ratio: Double { mean > 0 ? peak / mean : 0 }

  init() {}

  /// The rates of these seconds, in windows of this length.
  init(_ requests: ArraySlice<UInt32>, window: Int) {
    let starts = stride(from: requests.startIndex, through: requests.endIndex - window, by: window)
    let rates = starts.map { Double(requests[$0..<($0 + window)].reduce(0, +)) / Double(window) }
    guard !rates.isEmpty else { return }
    mean = rates.reduce(0, +) / Double(rates.count)
    peak = rates.max() ?? 0
  }
}

/// `@unchecked Sendable`: one thread.
final class Fleet: @unchecked Sendable {
  private let schedule: Schedule
  private let judge = Judge(tokenLife: ProviderRules().tokenLife)
  private let provider: SimulatedProvider
  private let authority: Authority
  private let scenario: FleetScenario
  private let size: Int
  private let routes: Int
  private var proxies: [SimulatedProxy] = []
  private var servers: [RedisModel] = []
  private var samples = (all: 0, served: 0)
  private var lives = 0
  /// The routes without a token, each until a time: after a start until they have one, and after a call that got none
  /// for ten minutes, in which another call may get one.
  private var lacking: [Route: Double] = [:]

  /// A route of a life of a process.
  private struct Route: Hashable {
    var life: Int
    var number: Int
  }

  /// The mean seconds between two calls of a process's routes, by the number of the route. Three are busy, one is used
  /// once in an hour, and one four times a day: their tokens end unused most of the time, and are not renewed.
  private static let callPauses: [Double] = [120, 300, 300, 3600, 21_600]
  /// Processes of a group that share a Redis server.
  private static let sharing = 20

  init(_ scenario: FleetScenario, size: Int, routes: Int, seed: UInt64) throws {
    self.scenario = scenario
    self.size = size
    self.routes = routes
    schedule = Schedule(seed: seed)
    var rules = ProviderRules()
    // The limits of a whole tenant and address, for the part of the fleet that is simulated.
    rules.tenantLimit = 200 * Double(size) / 10_000
    // Fewer would be exceeded by chance.
    rules.burst = max(rules.tenantLimit, 20)
    rules.addressLimit = scenario == .oneAddress ? 6000 * size / 10_000 : .max
    provider = SimulatedProvider(rules, schedule, judge)
    provider.book = RequestBook()
    judge.isPrompt = { [provider] in provider.isFine(since: $0) }
    let trouble = scenario.trouble
    if scenario.usesRedis {
      judge.isReliable = { [schedule] _, since in
        schedule.now < trouble.start || since > trouble.start + trouble.length
      }
    }
    authority = try Authority(SimulatedProvider.authority)
  }

  /// What should not have happened.
  var violations: [String] { judge.violations }

  /// Runs the scenario, and measures.
  func run() throws -> FleetFigures {
    schedule.begin()
    let trouble = scenario.trouble
    for index in 0..<size {
      let start = trouble.start == 0 ? schedule.random.number(in: 0...60) : schedule.random.number(in: 0...3600)
      schedule.at(start) { Task { try await self.start(index) } }
    }
    schedule.run(until: trouble.start)
    // Those that got a token and were not called since.
    lacking = trouble.start > 0 ? [:] : lacking
    begin(trouble.length)
    schedule.run(until: trouble.start + trouble.length)
    end()
    let calm = untilCalm(from: trouble.start + trouble.length)
    schedule.run(until: calm + 3660)
    return figures(from: trouble.start + (trouble.start == 0 ? 60 : trouble.length), calm: calm)
  }

  private func start(_ index: Int) async throws {
    let group = index / Self.sharing
    let skew = scenario == .clocks ? schedule.random.number(in: -300...300) : 0
    lives += 1
    let life = ProcessLife(
      number: lives, group: scenario.usesRedis ? group : index, address: scenario == .oneAddress ? 0 : index,
      skew: skew, schedule)
    if skew != 0 { judge.noteWrongClock(of: life) }
    let application = Application("client-\(life.group)", at: provider, from: life, authority: authority)
    var demands: [Demand] = []
    for route in 0..<routes {
      let scopes = try ScopeSet(parameter: "api.\(route)/.default")
      demands.append(Demand(subscription: TokenSubscription(application: application, scopes: scopes), subject: "app"))
    }
    var place = SharedPlace.memory
    if scenario.usesRedis {
      while servers.count <= group { servers.append(RedisModel(schedule)) }
      place = .redis(servers[group])
    }
    var timing = RedisTiming()
    // Longer than usual: most of a run would be polls that find nothing. Before a request the cache is read anyway.
    timing.look = .seconds(60)
    let proxy = await SimulatedProxy.start(life, demands, at: place, timing: timing, schedule, judge)
    proxies.append(proxy)
    for route in demands.indices {
      lacking[Route(life: life.number, number: route)] = .infinity
      callLater(proxy, route)
    }
  }

  private func callLater(_ proxy: SimulatedProxy, _ route: Int) {
    guard proxy.life.isAlive else { return }
    let pause = Self.callPauses[route % Self.callPauses.count]
    schedule.at(schedule.now + schedule.random.number(in: 0...(2 * pause))) { [weak self] in
      guard let self, proxy.life.isAlive else { return }
      callLater(proxy, route)
      Task {
        let isServed = await proxy.call(proxy.demands[route])
        let place = Route(life: proxy.life.number, number: route)
        self.lacking[place] = isServed ? nil : self.schedule.now + 600
        if self.schedule.now < self.scenario.trouble.start { return }
        self.samples.all += 1
        if isServed { self.samples.served += 1 }
      }
    }
  }

  private func begin(_ length: Double) {
    switch scenario {
    case .coldStart, .oneAddress, .clocks: break
    case .away5, .away30, .away90: provider.weather = .away
    case .storm: provider.weather = .failing(429)
    case .redisLost: for server in servers { server.isAway = true }
    case .redisSlow: for server in servers { server.latency = 0.1...1 }
    case .redisEmpty: for server in servers { server.restart(with: nil) }
    case .rollingRestart:
      for (index, proxy) in proxies.enumerated() {
        schedule.at(schedule.now + length * Double(index) / Double(proxies.count)) {
          proxy.stop()
          proxy.life.end()
          self.proxies.removeAll { $0 === proxy }
          self.lacking = self.lacking.filter { $0.key.life != proxy.life.number }
          Task { try await self.start(proxy.life.address) }
        }
      }
    }
  }

  private func end() {
    provider.weather = .fine
    for server in servers { server.heal() }
  }

  private var book: RequestBook { provider.book ?? RequestBook() }

  /// Runs on until 99 of 100 routes have a token, or are not used since theirs ended.
  private func untilCalm(from start: Double) -> Double {
    while true {
      schedule.run(until: schedule.now + 10)
      for proxy in proxies {
        for (route, demand) in proxy.demands.enumerated() where proxy.isReady(demand) {
          lacking[Route(life: proxy.life.number, number: route)] = nil
        }
      }
      lacking = lacking.filter { schedule.now < $0.value }
      if lacking.count * 100 <= size * routes { return schedule.now }
      if schedule.now - start > 6 * 3600 { return schedule.now }
    }
  }

  private func figures(from start: Double, calm: Double) -> FleetFigures {
    var figures = FleetFigures()
    let requests = book.requests + [UInt32](repeating: 0, count: max(Int(schedule.now) - book.requests.count, 0))
    // Few groups send so few requests that chance makes the peak of a shorter time.
    let windows = (recovery: 60, hour: scenario.usesRedis && size < 10_000 ? 900 : 300)
    // The first minute after the trouble is left out.
    let first = Int(scenario.trouble.start == 0 ? start : start + 60)
    let end = min(Int(calm), requests.count)
    if first + windows.recovery <= end {
      figures.recovery = RateFigures(requests[first..<end], window: windows.recovery)
    }
    let calmed = min(max(end, first), requests.count)
    figures.hour = RateFigures(requests[calmed..<min(calmed + 3600, requests.count)], window: windows.hour)
    figures.calm = calm - start
    figures.served = samples.all == 0 ? 1 : Double(samples.served) / Double(samples.all)
    let keys = scenario.usesRedis ? (size / Self.sharing) * routes : size * routes
    let observed = requests[Int(scenario.trouble.start)...].reduce(0, +)
    let lives = (schedule.now - scenario.trouble.start) / Double(provider.rules.tokenLife)
    figures.requestsPerLife = Double(observed) / Double(keys) / lives
    let limit = 300 * min(provider.rules.tenantLimit, Double(provider.rules.addressLimit) / 300)
    let above = stride(from: first, to: requests.count - 299, by: 60).reversed().first {
      Double(requests[$0..<($0 + 300)].reduce(0, +)) > limit
    }
    figures.minutesAbove = above.map { (Double($0) + 300 - start) / 60 } ?? 0
    figures.minutes = stride(from: Int(scenario.trouble.start), to: requests.count - 59, by: 60).map {
      requests[$0..<($0 + 60)].reduce(0, +)
    }
    return figures
  }
}
