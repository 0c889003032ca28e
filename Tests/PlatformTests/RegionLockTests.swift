import Bytes
import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct RegionLockTests {
  let directory: TemporaryDirectory
  let lock: RegionLock

  init() throws {
    directory = try TemporaryDirectory()
    lock = RegionLock(path: directory.file("locks"), queue: FileQueue("test"))
  }

  @Test func `one number is held once, another number beside it`() async throws {
    let held = try #require(try await lock.take(.max, within: .zero))
    #expect(try await lock.take(.max, within: .milliseconds(50)) == nil)
    let other = try #require(try await lock.take(17 << 1, within: .zero))
    withExtendedLifetime((held, other)) {}
  }

  @Test func `letting go of it is enough`() async throws {
    do {
      let held = try await lock.take(2, within: .zero)
      #expect(held != nil)
    }
    #expect(try await lock.take(2, within: .zero) != nil)
  }

  @Test func `a symbolic link is not followed`() async throws {
    symlink(directory.file("elsewhere"), directory.file("locks"))
    await #expect(throws: SystemError("openat", ELOOP)) { try await lock.take(2, within: .zero) }
  }
}
