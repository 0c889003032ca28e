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
  /// The most requests in five minutes of processes that had been refused twice in a row, in parts of the limit.
  var toldPeak = 0.0
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
      ("told_peak", toldPeak),
    ]
    return #"{"scenario": "\#(scenario)", "seed": \#(seed), "size": \#(size), "#
      + members.map { #""\#($0)": \#(($1 * 10_000).rounded() / 10_000)"# }.joined(separator: ", ")
      + #", "minutes": \#(minutes)}"#
  }
}

extension FleetFigures {
  /// The rules of docs/scale.md that a run breaks. Few processes send so few requests that chance breaks them.
  func broken(size: Int) -> [String] {
    guard size >= 10_000 else { return [] }
    var broken: [String] = []
    for (name, rates) in [("until calm", recovery), ("in the hour after", hour)] where rates.ratio > 2 {
      broken.append("the peak \(name) is \(rates.ratio) times the mean")
    }
    if toldPeak > 1 { broken.append("those that were refused twice in a row send \(toldPeak) times the limit") }
    return broken
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
  /// The calls of each second that were drawn together: they carried a token that was not due.
  private var drawn: [UInt32] = []
  private var lives = 0
  /// The routes without a token by the life of their process, each until a time: after a start until they have one, and
  /// after a call that got none for ten minutes, in which another call may get one.
  private var lacking: [Int: [Double]] = [:]

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

  /// The broken rules so far.
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
    if trouble.start > 0 { for life in lacking.keys { lacking[life] = Array(repeating: 0, count: routes) } }
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
      while servers.count <= group { servers.append(RedisModel(schedule, hasReplica: false)) }
      place = .redis(servers[group])
    }
    var timing = RedisTiming()
    // Longer than usual: most of a run would be polls that find nothing. Before a request the cache is read anyway.
    timing.look = .seconds(60)
    let proxy = await SimulatedProxy.start(life, demands, at: place, timing: timing, schedule, judge)
    proxies.append(proxy)
    lacking[life.number] = Array(repeating: .infinity, count: routes)
    let restart = life.number <= size ? restart(of: index) : .infinity
    for route in demands.indices { callLater(proxy, route, until: restart) }
  }

  /// The time at which a process that was there from the beginning is restarted.
  private func restart(of index: Int) -> Double {
    guard scenario == .rollingRestart else { return .infinity }
    return scenario.trouble.start + scenario.trouble.length * Double(index) / Double(size)
  }

  /// Draws the next call that does more than carry a token which is not due, and counts those before it. On Redis
  /// another process may replace the token meanwhile.
  private func callLater(_ proxy: SimulatedProxy, _ route: Int, until end: Double) {
    let pause = 2 * Self.callPauses[route % Self.callPauses.count]
    let due = scenario.usesRedis ? 0 : min(proxy.freshUntil(proxy.demands[route]), end)
    var time = schedule.now + schedule.random.number(in: 0...pause)
    while time < due {
      let second = Int(time)
      if second >= drawn.count { drawn += Array(repeating: 0, count: max(second + 1 - drawn.count, 3600)) }
      drawn[second] += 1
      time += schedule.random.number(in: 0...pause)
    }
    if time >= end { return }
    schedule.at(time) { [weak self] in
      guard let self, proxy.life.isAlive else { return }
      let demand = proxy.demands[route]
      if let isServed = proxy.callAtOnce(demand) {
        note(proxy.life, route, isServed: isServed)
      } else {
        Task { self.note(proxy.life, route, isServed: await proxy.call(demand)) }
      }
      callLater(proxy, route, until: end)
    }
  }

  private func note(_ life: ProcessLife, _ route: Int, isServed: Bool) {
    lacking[life.number]?[route] = isServed ? 0 : schedule.now + 600
    if schedule.now < scenario.trouble.start { return }
    samples.all += 1
    if isServed { samples.served += 1 }
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
      for proxy in proxies {
        schedule.at(restart(of: proxy.life.address)) {
          proxy.stop()
          proxy.life.end()
          self.lacking[proxy.life.number] = nil
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
      var count = 0
      for proxy in proxies {
        guard let until = lacking[proxy.life.number] else { continue }
        for demand in proxy.demands where schedule.now < until[demand.number] {
          if proxy.isReady(demand) { lacking[proxy.life.number]?[demand.number] = 0 } else { count += 1 }
        }
      }
      if count * 100 <= size * routes { return schedule.now }
      if schedule.now - start > 6 * 3600 { return schedule.now }
    }
  }

  private func figures(from start: Double, calm: Double) -> FleetFigures {
    var figures = FleetFigures()
    let requests = book.requests + [UInt32](repeating: 0, count: max(Int(schedule.now) - book.requests.count, 0))
    // Few groups send so few requests that chance makes the peak of a shorter time.
    // An address's limit is for five minutes.
    let windows = (
      recovery: scenario == .oneAddress ? 300 : 60, hour: scenario.usesRedis && size < 10_000 ? 900 : 300
    )
    // The first minute after the trouble is left out.
    let first = Int(scenario.trouble.start == 0 ? start : start + 60)
    let end = min(Int(calm), requests.count)
    if first + windows.recovery <= end {
      figures.recovery = RateFigures(requests[first..<end], window: windows.recovery)
    }
    let calmed = min(max(end, first), requests.count)
    figures.hour = RateFigures(requests[calmed..<min(calmed + 3600, requests.count)], window: windows.hour)
    figures.calm = calm - start
    let length = Int(schedule.now - scenario.trouble.start)
    let served = drawn.dropFirst(Int(scenario.trouble.start)).prefix(length).reduce(0) { $0 + Int($1) }
    figures.served = Double(samples.served + served) / Double(max(samples.all + served, 1))
    let keys = scenario.usesRedis ? (size / Self.sharing) * routes : size * routes
    let observed = requests[Int(scenario.trouble.start)...].reduce(0, +)
    let lives = (schedule.now - scenario.trouble.start) / Double(provider.rules.tokenLife)
    figures.requestsPerLife = Double(observed) / Double(keys) / lives
    let limit = 300 * min(provider.rules.tenantLimit, Double(provider.rules.addressLimit) / 300)
    let above = stride(from: first, to: requests.count - 299, by: 60).reversed().first {
      Double(requests[$0..<($0 + 300)].reduce(0, +)) > limit
    }
    figures.minutesAbove = above.map { (Double($0) + 300 - start) / 60 } ?? 0
    let told = stride(from: 0, to: book.told.count - 299, by: 60).map { book.told[$0..<($0 + 300)].reduce(0, +) }
    figures.toldPeak = Double(told.max() ?? 0) / limit
    figures.minutes = stride(from: Int(scenario.trouble.start), to: requests.count - 59, by: 60).map {
      requests[$0..<($0 + 60)].reduce(0, +)
    }
    return figures
  }
}
