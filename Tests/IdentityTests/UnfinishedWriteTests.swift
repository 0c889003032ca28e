import Bytes
import Platform
import Testing

@testable import Identity

@Suite struct UnfinishedWriteTests {
  static let holder = LockHolder(process: 4711, name: "az")

  static let cases: [(write: UnfinishedWrite, verdict: UnfinishedWrite.Verdict)] = [
    // Its writer holds the lock, however long.
    (UnfinishedWrite(lock: .held(holder), age: .seconds(60), seenFor: .seconds(60)), .unfinished),
    (UnfinishedWrite(lock: .held(nil), age: .zero, seenFor: .zero), .unfinished),
    // Without a lock, once it has not changed for a second.
    (UnfinishedWrite(lock: .free, age: .zero, seenFor: .zero), .unfinished),
    (UnfinishedWrite(lock: .free, age: .milliseconds(999), seenFor: .milliseconds(999)), .unfinished),
    (UnfinishedWrite(lock: .free, age: .seconds(1), seenFor: .milliseconds(200)), .final),
    (UnfinishedWrite(lock: .free, age: .seconds(86_400), seenFor: .milliseconds(200)), .final),
    // One look is never enough, since another machine's clock may be late.
    (UnfinishedWrite(lock: .free, age: .seconds(86_400), seenFor: .milliseconds(199)), .unfinished),
    // Dated in the future.
    (UnfinishedWrite(lock: .free, age: .zero, seenFor: .seconds(1)), .final),
    // Its writer has ended.
    (UnfinishedWrite(lock: .abandoned, age: .seconds(11), seenFor: .milliseconds(200)), .abandoned),
    (UnfinishedWrite(lock: .abandoned, age: .milliseconds(500), seenFor: .milliseconds(500)), .unfinished),
  ]

  @Test(arguments: cases)
  func `an incomplete text is believed when no program writes it any more`(
    write: UnfinishedWrite, verdict: UnfinishedWrite.Verdict
  ) {
    #expect(write.verdict == verdict)
  }
}
