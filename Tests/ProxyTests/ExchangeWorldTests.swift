import Foundation
import Testing

@testable import Proxy

@Suite struct ExchangeWorldTests {
  /// Worlds of a hundred exchanges. `Tests/simulation exchanges` sets more.
  private static let worlds =
    ProcessInfo.processInfo.environment["BEARER_PROXY_EXCHANGE_WORLDS"].flatMap { UInt64($0) } ?? 300

  @Test func `no byte is in another exchange, no connection is used again that is not clean, each wait has an end`()
    async
  {
    var (reused, steps) = (0, 0)
    for seed in 1...Self.worlds {
      var world = ExchangeWorld(seed: seed)
      world.run(exchanges: 100)
      #expect(world.violations == [], "seed \(seed)")
      reused += world.reused
      steps += world.steps
      // Other tests run beside it.
      await Task.yield()
    }
    #expect(reused > 10 * Int(Self.worlds))
    print("\(Self.worlds) worlds of 100 exchanges: \(steps) steps, \(reused) on connections that were used before")
  }

  @Test(arguments: ExchangeDefect.allCases)
  func `a defect of the code around the states is found`(defect: ExchangeDefect) {
    let found = (UInt64(1)...200).first { seed in
      var world = ExchangeWorld(seed: seed, defect: defect)
      world.run(exchanges: 100)
      return !world.violations.isEmpty
    }
    #expect(found != nil)
  }
}
