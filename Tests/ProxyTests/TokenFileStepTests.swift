// The next step for a token file.

import Bytes
import Testing

@testable import Proxy

@Suite struct TokenFileStepTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var held: Int64?
    var contents = TokenFileContents.none
    var retryAt: Int64?
    var hasAsked = false
    var step: TokenFileStep

    var testDescription: String { "\(held ?? 0) \(contents) \(retryAt ?? 0) \(hasAsked): \(step)" }
  }

  private static let former = TokenFileContents.other(until: UnixTime(140))

  static let rows = [
    Row(step: .wait(until: nil)), Row(contents: .other(until: nil), step: .remove), Row(contents: .held, step: .remove),
    // A missing file, one that a process before left, and one with the token of before.
    Row(held: 200, step: .write), Row(held: 200, contents: .other(until: nil), step: .write),
    Row(held: 200, contents: former, step: .write), Row(held: 200, contents: .held, step: .wait(until: UnixTime(170))),
    // A failed write is tried again, and the token of before stays meanwhile, until its own end.
    Row(held: 200, retryAt: 104, step: .wait(until: UnixTime(104))), Row(held: 200, retryAt: 100, step: .write),
    Row(held: 200, contents: former, retryAt: 104, step: .wait(until: UnixTime(104))),
    Row(held: 200, contents: former, retryAt: 150, step: .wait(until: UnixTime(140))),
    Row(held: 200, contents: former, retryAt: 100, step: .write),
    Row(held: 200, contents: .other(until: UnixTime(100)), retryAt: 104, step: .remove),
    Row(held: 200, contents: .other(until: nil), retryAt: 104, step: .remove),
    Row(held: 131, contents: .held, step: .wait(until: UnixTime(101))), Row(held: 130, contents: .held, step: .renew),
    Row(held: 130, step: .renew), Row(held: 130, contents: former, retryAt: 104, step: .renew),
    Row(held: 130, contents: .held, hasAsked: true, step: .remove),
    Row(held: 130, hasAsked: true, step: .wait(until: nil)),
    Row(held: 130, contents: former, retryAt: 104, hasAsked: true, step: .remove),
    Row(held: 90, contents: .held, step: .renew), Row(held: 90, contents: .held, hasAsked: true, step: .remove),
  ]

  @Test(arguments: rows)
  func `a file has a token that lives long enough, or is not there`(row: Row) {
    let step = TokenFileStep(
      held: row.held.map { UnixTime($0) }, contents: row.contents, leastLife: 30,
      retryAt: row.retryAt.map { UnixTime($0) }, hasAsked: row.hasAsked, now: UnixTime(100))
    #expect(step == row.step)
  }
}
