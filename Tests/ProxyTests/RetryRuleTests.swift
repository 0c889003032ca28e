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
  func `only what is idempotent and has no content is repeated, once, after a connection that was used before`(
    method: (name: RequestMethod, mayRepeat: Bool), framing: (kind: BodyFraming, mayRepeat: Bool)
  ) {
    for (wasReused, retries, isKept) in Self.flags {
      let permitted = RetryRule.permits(
        .mayBeProcessed, method: method.name, framing: framing.kind, contentIsKept: isKept,
        connectionWasReused: wasReused, retries: retries)
      #expect(permitted == (method.mayRepeat && framing.mayRepeat && wasReused && retries == 0))
    }
  }

  @Test(arguments: methods, framings)
  func `an unprocessed request of any method is repeated three times if its content can be sent again`(
    method: (name: RequestMethod, mayRepeat: Bool), framing: (kind: BodyFraming, mayRepeat: Bool)
  ) {
    for (wasReused, retries, isKept) in Self.flags {
      let permitted = RetryRule.permits(
        .notProcessed, method: method.name, framing: framing.kind, contentIsKept: isKept,
        connectionWasReused: wasReused, retries: retries)
      #expect(permitted == (retries < 3 && isKept))
    }
  }

  @Test(arguments: methods, framings) func `what the upstream has given up is not repeated`(
    method: (name: RequestMethod, mayRepeat: Bool), framing: (kind: BodyFraming, mayRepeat: Bool)
  ) {
    for (wasReused, retries, isKept) in Self.flags {
      #expect(
        !RetryRule.permits(
          .givenUp, method: method.name, framing: framing.kind, contentIsKept: isKept,
          connectionWasReused: wasReused, retries: retries))
    }
  }

  private static let flags: [(wasReused: Bool, retries: Int, isKept: Bool)] = (0..<20).map {
    ($0 & 1 == 0, $0 >> 2, $0 & 2 == 0)
  }
}
