import Testing

@testable import Routing

@Suite struct DescriptorBudgetTests {
  private static let cases: [(limit: Int, atStart: Int, wanted: Int, connections: Int)] = [
    // The units' limit, and what container engines give.
    (65_536, 30, 10_000, 10_000),
    (1_048_576, 30, 10_000, 10_000),
    // Half of what is left when the process and the reserve have theirs.
    (256, 26, 10_000, 83),
    (1024, 40, 10_000, 428),
    (1024, 40, 100, 100),
    (20_168, 40, 10_000, 10_000),
    (20_167, 40, 10_000, 9_999),
    // There is always one, which finds out what is left.
    (40, 38, 10_000, 1),
    (20, 38, 10_000, 1),
    (256, 26, 1, 1),
  ]

  @Test(arguments: cases)
  func `each caller has a descriptor for an upstream, and others have a reserve`(
    _ row: (limit: Int, atStart: Int, wanted: Int, connections: Int)
  ) {
    let budget = DescriptorBudget(limit: row.limit, atStart: row.atStart)
    #expect(budget.connections(wanted: row.wanted) == row.connections)
    let limits = ServiceLimits(connections: row.wanted).within(budget)
    #expect(limits.connections == row.connections)
    #expect(limits.isShortOfDescriptors == (row.connections < row.wanted))
  }

  @Test(arguments: [1, 100, 10_000, 1_000_000])
  func `the limit that is asked for is enough for that many, and no larger than needed`(_ connections: Int) {
    let needed = DescriptorBudget(limit: 256, atStart: 30).limit(for: connections)
    let budget = DescriptorBudget(limit: max(needed, 512), atStart: 30)
    #expect(budget.connections(wanted: connections) == connections)
    if needed > 600 {
      let less = DescriptorBudget(limit: needed - 2, atStart: 30)
      #expect(less.connections(wanted: connections) == connections - 1)
    }
  }
}
