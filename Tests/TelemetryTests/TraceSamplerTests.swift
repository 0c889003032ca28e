import Telemetry
import Testing

@Suite struct TraceSamplerTests {
  private static func trace(low: UInt64 = 7, sampled: Bool = false) -> TraceContext {
    TraceContext(randomHigh: 1, randomLow: low, randomSpan: 2, isSampled: sampled)
  }

  /// The rule, the presence and decision of the caller's trace, and the result.
  static let decisions: [(TraceSampler, continued: Bool, sampled: Bool, Bool)] = [
    (TraceSampler(), false, false, true), (TraceSampler(), true, false, false), (TraceSampler(), true, true, true),
    (TraceSampler(.always, followsParent: false), true, false, true),
    (TraceSampler(.never, followsParent: false), true, true, false), (TraceSampler(.never), false, false, false),
    (TraceSampler(.never), true, true, true), (TraceSampler(.ratio(1)), false, false, true),
    (TraceSampler(.ratio(0)), false, false, false), (TraceSampler(.ratio(0)), true, true, true),
    (TraceSampler(.ratio(1), followsParent: false), true, false, true),
  ]

  @Test(arguments: decisions)
  func `a caller's decision counts if the rule follows it`(
    _ sampler: TraceSampler, continued: Bool, sampled: Bool, expected: Bool
  ) {
    #expect(sampler.records(Self.trace(sampled: sampled), isContinued: continued) == expected)
  }

  /// The lower half of the id, and the least part that chooses it (2^63 parts in all, the last bit apart).
  static let parts: [(UInt64, Double, Bool)] = [
    (0, 0x1p-63, true), (1, 0x1p-63, true), (2, 0x1p-63, false), (.max, 1, true), (.max, 0.999_999, false),
    (1 << 63, 0.5, false), ((1 << 63) - 1, 0.5, true), (0, 0, false),
  ]

  @Test(arguments: parts)
  func `a part of the traces is chosen by the lower half of the id`(low: UInt64, part: Double, expected: Bool) {
    let sampler = TraceSampler(.ratio(part), followsParent: false)
    #expect(sampler.records(Self.trace(low: low), isContinued: false) == expected)
  }

  @Test(arguments: [
    (TraceSampler(), "parentbased_always_on"), (TraceSampler(.never, followsParent: false), "always_off"),
    (TraceSampler(.ratio(0.25)), "parentbased_traceidratio 0.25"),
  ])
  func `a rule is shown as the variable says it`(_ sampler: TraceSampler, text: String) {
    #expect(sampler.description == text)
  }
}
