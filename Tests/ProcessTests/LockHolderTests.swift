// The process that a lock file names: running, gone, or another one.

import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite struct LockHolderTests {
  @Test func `a process that ended lives no longer, waited for or not`() async throws {
    #expect(LockHolder(process: getpid(), name: "").lives)
    let child = try ChildProcess("true", ["true"])
    let holder = LockHolder(process: child.identifier, name: "")
    // Nothing has waited for it before `wait` does.
    #expect(try await eventually { !holder.lives })
    _ = try await child.wait()
    #expect(!holder.lives)
  }
}
