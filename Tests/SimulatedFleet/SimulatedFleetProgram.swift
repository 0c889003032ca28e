// The program of Tests/simulation, which has its description.

import Glibc

@main
struct SimulatedFleetProgram {
  static func main() throws {
    guard getenv("SWIFT_DETERMINISTIC_HASHING") != nil else {
      print("error: without SWIFT_DETERMINISTIC_HASHING, which Tests/simulation sets, no run can be repeated")
      exit(2)
    }
    Schedule.takeOver()
    let arguments = Array(CommandLine.arguments.dropFirst())
    let numbers = arguments.dropFirst().compactMap { UInt64($0) }
    do {
      switch (arguments.first, numbers.count) {
      case ("explore", 2): try explore(from: numbers[0], steps: numbers[1])
      case ("replay", 1): try replay(numbers[0])
      case ("crashes", 2): try crashes(of: numbers[0], limit: Int(numbers[1]))
      case ("days", 2): try LongRun(seed: numbers[0]).run(proxyDays: Int(numbers[1]))
      case ("figures", 3): try Figures(arguments[1], size: Int(numbers[0]), seeds: numbers[1]...numbers[2]).run()
      default:
        print("usage: simulated-fleet explore SEED STEPS | replay SEED | crashes SEED LIMIT | days SEED COUNT |")
        print("       figures SCENARIO SIZE SEED SEED")
        exit(2)
      }
    } catch is BrokenInvariant {
      exit(1)
    }
  }

  /// Worlds of one seed after the other, until so many steps are done.
  private static func explore(from first: UInt64, steps limit: UInt64) throws {
    var (seed, steps, calls) = (first, UInt64(0), 0)
    repeat {
      let world = try ExploredWorld(seed: seed)
      world.run()
      steps += world.schedule.steps
      try judge(world, " after \(steps) steps")
      // Every hundredth is repeated: a run that depends on anything but its seed cannot be replayed.
      if seed % 100 == 1 { try repeated(world) }
      calls += world.judge.calls.all
      seed += 1
    } while steps < limit
    print("seeds \(first) to \(seed - 1): \(steps) steps, \(calls) calls, every invariant holds")
  }

  private static func repeated(_ world: ExploredWorld) throws {
    let again = try ExploredWorld(seed: world.schedule.seed)
    again.run()
    if again.schedule.digest == world.schedule.digest { return }
    print("error: seed \(world.schedule.seed) runs differently when it is repeated")
    throw BrokenInvariant()
  }

  private static func judge(_ world: ExploredWorld, _ remark: String = "") throws {
    if world.judge.violations.isEmpty { return }
    for violation in world.judge.violations { print("seed \(world.schedule.seed)\(remark): \(violation)") }
    print("error: an invariant does not hold; repeat it with: Tests/simulation replay \(world.schedule.seed)")
    throw BrokenInvariant()
  }

  private static func replay(_ seed: UInt64) throws {
    let world = try ExploredWorld(seed: seed)
    world.run()
    print("seed \(seed): \(world.description); \(world.schedule.steps) steps, digest \(world.schedule.digest)")
    try judge(world)
  }

  /// A world without other troubles, once for each of the first waits of a process, at which it is killed.
  private static func crashes(of seed: UInt64, limit: Int) throws {
    var (number, steps) = (1, UInt64(0))
    while number <= limit {
      let world = try ExploredWorld(seed: seed, endsOneAt: number)
      world.run()
      try judge(world, ", killed at wait \(number)")
      steps += world.schedule.steps
      if !world.hasEndedOne { break }
      number += 1
    }
    print("seed \(seed), killed at each of \(number - 1) waits: \(steps) steps, every invariant holds")
  }
}

/// A scenario of a fleet, with several seeds.
struct Figures {
  private let scenario: FleetScenario
  private let size: Int
  private let seeds: ClosedRange<UInt64>

  init(_ name: String, size: Int, seeds: ClosedRange<UInt64>) throws {
    guard let scenario = FleetScenario(rawValue: name) else {
      print("error: no scenario \(name); there are \(FleetScenario.allCases.map(\.rawValue).joined(separator: " "))")
      exit(2)
    }
    (self.scenario, self.size, self.seeds) = (scenario, size, seeds)
  }

  /// Prints a line of JSON for each seed.
  func run() throws {
    for seed in seeds {
      let fleet = try Fleet(scenario, size: size, routes: 5, seed: seed)
      let figures = try fleet.run()
      let violations = fleet.violations + figures.broken(size: size)
      for violation in violations { print("\(scenario.rawValue), seed \(seed): \(violation)") }
      if !violations.isEmpty { throw BrokenInvariant() }
      print(figures.json(scenario: scenario.rawValue, seed: seed, size: size))
    }
  }
}
