// A few proxies for a long time: no invariant breaks, and memory does not grow.

import Bytes
import FoundationEssentials
import Identity
import Tokens

/// `@unchecked Sendable`: one thread.
final class LongRun: @unchecked Sendable {
  private static let size = 20
  private let schedule: Schedule
  private let judge = Judge(tokenLife: ProviderRules().tokenLife)
  private let provider: SimulatedProvider
  private let authority: Authority
  private var proxies: [SimulatedProxy] = []

  init(seed: UInt64) throws {
    schedule = Schedule(seed: seed)
    provider = SimulatedProvider(ProviderRules(), schedule, judge)
    authority = try Authority(SimulatedProvider.authority)
  }

  /// Runs so many proxy-days, a tenth of them before memory is measured for the first time.
  func run(proxyDays: Int) throws {
    schedule.begin()
    for number in 0..<Self.size { Task { try await self.start(number) } }
    trouble()
    let seconds = Double(proxyDays) / Double(Self.size) * 86_400
    schedule.run(until: seconds / 10)
    let before = Self.residentPages
    schedule.run(until: seconds)
    let after = Self.residentPages
    for violation in judge.violations { print("seed \(schedule.seed): \(violation)") }
    print(
      "\(proxyDays) proxy-days, seed \(schedule.seed): \(schedule.steps) steps, \(provider.tokens) tokens,"
        + " \(judge.calls.served) of \(judge.calls.all) calls with a valid token,"
        + " memory \(before * 4) KiB after a tenth, \(after * 4) KiB at the end")
    if after > before + before / 10 { judge.record("memory grows", at: schedule.now) }
    if !judge.violations.isEmpty { throw BrokenInvariant() }
  }

  private func start(_ number: Int) async throws {
    let life = ProcessLife(number: number, group: number, address: number, skew: 0, schedule)
    let application = Application("client", at: provider, from: life, authority: authority)
    let demand = Demand(
      subscription: TokenSubscription(application: application, scopes: try ScopeSet(parameter: "api/.default")),
      subject: "app")
    let proxy = await SimulatedProxy.start(life, [demand], at: .memory, schedule, judge)
    proxies.append(proxy)
    callLater(proxy, demand)
  }

  private func callLater(_ proxy: SimulatedProxy, _ demand: Demand) {
    schedule.at(schedule.now + schedule.random.number(in: 0...3600)) { [self] in
      callLater(proxy, demand)
      Task { _ = await proxy.call(demand) }
    }
  }

  /// Once a day or so the provider has a bad hour.
  private func trouble() {
    schedule.at(schedule.now + schedule.random.number(in: 0...172_800)) { [self] in
      provider.weather = schedule.random.pick([.away, .silent, .slow(30), .failing(429), .failing(500)])
      schedule.at(schedule.now + schedule.random.number(in: 1...5400)) { self.provider.weather = .fine }
      trouble()
    }
  }

  private static var residentPages: Int {
    do {
      let text = String(decoding: try Data(contentsOf: URL(filePath: "/proc/self/statm")), as: UTF8.self)
      return text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    } catch {
      return 0
    }
  }
}

struct BrokenInvariant: Error {}
