// The next step for a token file.

import Bytes
import Testing

@testable import Proxy

@Suite struct TokenFileStepTests {
  static let rows: [(held: Int64?, isWritten: Bool, isThere: Bool, hasAsked: Bool, step: TokenFileStep)] = [
    (nil, false, false, false, .wait(until: nil)), (nil, false, true, false, .remove),
    (200, false, false, false, .write), (200, false, true, false, .write),
    (200, true, true, false, .wait(until: UnixTime(170))),
    // A write that failed is not repeated with the same token.
    (200, true, false, false, .wait(until: UnixTime(170))),
    (131, true, true, false, .wait(until: UnixTime(101))), (130, true, true, false, .renew),
    (130, false, false, false, .renew), (130, true, true, true, .remove), (130, false, false, true, .wait(until: nil)),
    (90, true, true, false, .renew), (90, true, true, true, .remove),
  ]

  @Test(arguments: rows)
  func `a file has a token that lives long enough, or is not there`(
    row: (held: Int64?, isWritten: Bool, isThere: Bool, hasAsked: Bool, step: TokenFileStep)
  ) {
    let step = TokenFileStep(
      held: row.held.map { UnixTime($0) }, leastLife: 30, isWritten: row.isWritten, isThere: row.isThere,
      hasAsked: row.hasAsked, now: UnixTime(100))
    #expect(step == row.step)
  }
}
