// When a request is sent a second time: the whole table.

import HTTP
import Testing

@testable import Proxy

@Suite struct RetryRuleTests {
  private static let methods: [(RequestMethod, Bool)] = [
    (.get, true), (.head, true), (.put, true), (.delete, true), (.options, true), (.trace, true),
    (.post, false), (.patch, false), (.connect, false), (.other, false),
  ]
  private static let framings: [(BodyFraming, Bool)] = [
    (.none, true), (.fixed(0), true), (.fixed(1), false), (.chunked, false), (.untilClose, false),
  ]

  @Test(arguments: methods, framings)
  func `a request is repeated by its fate, its method, its content, its connection and the times before`(
    method: (name: RequestMethod, mayRepeat: Bool), framing: (kind: BodyFraming, mayRepeat: Bool)
  ) {
    for (fate, flags) in ExchangeState.RequestFate.allCases.flatMap({ fate in (0..<20).map { (fate, $0) } }) {
      let (wasReused, isKept, retries) = (flags & 1 == 0, flags & 2 == 0, flags >> 2)
      let expected =
        switch fate {
        // Only what is idempotent and has no content, once, after a connection that was used before.
        case .mayBeProcessed: method.mayRepeat && framing.mayRepeat && wasReused && retries == 0
        // Any method, three times, if the content can be sent again.
        case .notProcessed: retries < 3 && isKept
        case .givenUp: false
        }
      let permitted = RetryRule.permits(
        fate, method: method.name, framing: framing.kind, contentIsKept: isKept, connectionWasReused: wasReused,
        retries: retries)
      #expect(permitted == expected, "\(fate), \(flags)")
    }
  }
}
