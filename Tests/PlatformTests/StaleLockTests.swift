import Bytes
import Testing

@testable import Platform

@Suite struct StaleLockTests {
  static let somebody = LockHolder(process: 4711, name: "az")

  static let proofs: [(lock: StaleLock, isProved: Bool)] = [
    (StaleLock(holder: somebody, holderLives: false, isUnlocked: true, age: .milliseconds(10_001)), true),
    (StaleLock(holder: somebody, holderLives: false, isUnlocked: true, age: .seconds(10)), false),
    (StaleLock(holder: somebody, holderLives: false, isUnlocked: false, age: .seconds(60)), false),
    (StaleLock(holder: somebody, holderLives: true, isUnlocked: true, age: .seconds(60)), false),
    (StaleLock(holder: nil, holderLives: false, isUnlocked: true, age: .seconds(11)), true),
    (StaleLock(holder: nil, holderLives: false, isUnlocked: true, age: .seconds(9)), false),
    (StaleLock(holder: nil, holderLives: false, isUnlocked: false, age: .seconds(11)), false),
    (ours(lives: false, isUnlocked: true), true),
    (ours(lives: true, isUnlocked: true), false),
    (ours(lives: false, isUnlocked: false), false),
  ]

  private static func ours(lives: Bool, isUnlocked: Bool) -> StaleLock {
    StaleLock(
      holder: LockHolder(process: 4711, name: "bearer-proxy"), holderLives: lives, isUnlocked: isUnlocked, age: .zero,
      isLockedFromTheStart: true)
  }

  @Test(arguments: proofs)
  func `only all three proofs together make a lock stale`(lock: StaleLock, isProved: Bool) {
    #expect(lock.isProved == isProved)
  }

  static let contents: [(text: String, holder: LockHolder?)] = [
    ("4711 /usr/bin/az", LockHolder(process: 4711, name: "/usr/bin/az")),
    ("4711", LockHolder(process: 4711, name: "")),
    ("4711\ndotnet\n", LockHolder(process: 4711, name: "dotnet")),
    ("4711 \u{1B}[31mred", LockHolder(process: 4711, name: "[31mred")),
    ("", nil), ("az 4711", nil), ("0 x", nil), ("-1 x", nil), ("99999999999 x", nil),
  ]

  @Test(arguments: contents)
  func `a lock file names its process first`(text: String, holder: LockHolder?) {
    #expect(LockHolder(Array(text.utf8)) == holder)
  }
}
