// The trace of a request, and if it is recorded.

import Bytes
import HTTP
import Telemetry
import Testing

@testable import Proxy

@Suite struct RequestTraceTests {
  private static let sent = TraceContext(randomHigh: 7, randomLow: 8, randomSpan: 9, isSampled: true)

  private static func trace(_ sent: TraceContext?, _ rules: TracingRules?) -> RequestTrace {
    var numbers = Counting()
    return RequestTrace(sent: sent, rules, using: &numbers)
  }

  private static func rules(_ root: TraceSampler.Root, follows: Bool = true, propagates: Bool = true) -> TracingRules {
    TracingRules(sampler: TraceSampler(root, followsParent: follows), propagates: propagates)
  }

  @Test func `without rules nothing is recorded, and a caller's decision is passed on`() {
    let continued = Self.trace(Self.sent, nil)
    #expect(continued.own == Self.sent.sibling(1) && continued.caller == 9 && !continued.isRecorded)
    let new = Self.trace(nil, nil)
    #expect(new.own.flags == 0 && new.own.span == 3 && new.caller == nil && !new.isRecorded)
  }

  private static let unsampled = TraceContext(randomHigh: 7, randomLow: 8, randomSpan: 9, isSampled: false)

  static let decisions: [(TracingRules, sent: TraceContext?, recorded: Bool)] = [
    (rules(.always), sent, true), (rules(.always), nil, true), (rules(.never), nil, false),
    (rules(.never), sent, true), (rules(.never, follows: false), sent, false),
    (rules(.never, propagates: false), sent, false), (rules(.always, propagates: false), sent, true),
    (rules(.always), unsampled, false), (rules(.always, follows: false), unsampled, true),
    (rules(.always, propagates: false), unsampled, true),
  ]

  @Test(arguments: decisions)
  func `the decision is what the next hop is told`(rules: TracingRules, sent: TraceContext?, recorded: Bool) {
    let trace = Self.trace(sent, rules)
    #expect(trace.isRecorded == recorded && trace.own.isSampled == recorded)
    #expect((trace.caller == 9) == (sent != nil && rules.propagates))
    #expect((trace.own.traceHigh == 7) == (sent != nil && rules.propagates))
  }

  @Test func `other flags stay as the caller set them`() {
    var sent = Self.sent
    sent.flags = 0x03
    #expect(Self.trace(sent, Self.rules(.never, follows: false)).own.flags == 0x02)
  }

  @Test func `the upstream is told of the attempt's span, and the request keeps its id`() {
    var buffer = ByteBuffer(capacity: 16)
    Self.sent.write(into: &buffer)
    buffer.append("id-1")
    RequestIdentity.replace(parent: Self.sent.sibling(0xAB), in: &buffer)
    #expect(buffer.bytes.text == "00-00000000000000070000000000000008-00000000000000ab-01id-1")
  }
}
