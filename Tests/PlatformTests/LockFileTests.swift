import Bytes
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct LockFileTests {
  let directory: TemporaryDirectory
  let path: String
  let lock: LockFile

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("cache.json.lockfile")
    lock = LockFile(path: path, name: "bearer-proxy", queue: FileQueue("test"))
  }

  private var exists: Bool { access(path, F_OK) == 0 }

  /// A lock file of another process, of this age.
  private func leave(_ contents: String, age seconds: Int) throws {
    try directory.write(contents, to: "cache.json.lockfile")
    let then = timespec(tv_sec: time(nil) - seconds, tv_nsec: 0)
    utimensat(AT_FDCWD, path, [then, then], 0)
  }

  /// An id that no process has: beyond the largest that the kernel gives (proc_sys_kernel(5), pid_max).
  private static let deadProcess: Int32 = 4_194_305

  @Test("lock-removed") func lockRemoved() async throws {
    let held = try await lock.take()
    #expect(textOfFile(path) == "\(getpid()) bearer-proxy")
    held.release()
    #expect(!exists)
    do {
      let forgotten = try await lock.take()
      withExtendedLifetime(forgotten) {}
    }
    #expect(!exists)
  }

  @Test func `a look tells a free lock from a held one and from one that was left, and changes nothing`() async throws {
    #expect(lock.sight() == .free)
    let held = try await lock.take()
    #expect(lock.sight() == .held(LockHolder(process: getpid(), name: "bearer-proxy")))
    held.release()
    try leave("\(getpid()) az", age: 60)
    #expect(lock.sight() == .held(LockHolder(process: getpid(), name: "az")))
    try leave("\(Self.deadProcess) az", age: 5)
    #expect(lock.sight() == .held(LockHolder(process: Self.deadProcess, name: "az")))
    try leave("\(Self.deadProcess) az", age: 60)
    #expect(lock.sight() == .abandoned)
    #expect(exists)
    #expect(LockFile(path: "/nowhere/x.lockfile", name: "x", queue: FileQueue("test")).sight() == .free)
  }

  @Test(
    arguments: [
      (0, 10, TimeSpan.seconds(10)), (10, 0, .zero), (.max, .min, .zero),
      (.min, .max, TimeSpan(nanoseconds: .max)),
    ] as [(Int64, Int64, TimeSpan)]) func `ages of files with any time are told`(
      modified: Int64, now: Int64, age: TimeSpan
    )
  {
    let instant = WallTime(seconds: modified)
    #expect(instant.age(at: WallTime(seconds: now)) == age)
  }

  @Test func `a process that uses the kernel's lock alone is kept out too`() async throws {
    let held = try await lock.take()
    let other = open(path, O_RDWR)
    defer { close(other) }
    #expect(flock(other, LOCK_EX | LOCK_NB) != 0)
    held.release()
  }

  @Test(.enabled(if: geteuid() == 0, "not run: takes root, to make a file of another user"))
  func `another user's lock file is not waited for`() async throws {
    try leave("\(getpid()) other", age: 0)
    chown(path, 65533, 65533)
    await #expect(throws: FileError.obstructed(name: "cache.json.lockfile", owner: 65533)) {
      // Longer than this test may take.
      _ = try await lock.take(within: .seconds(3600))
    }
    #expect(exists)
  }

  @Test(.enabled(if: geteuid() == 0, "not run: takes root, to work in a directory of another user"))
  func `in a directory of another user, root's lock file is that user's`() async throws {
    chown(directory.path, 65533, 65533)
    let held = try await lock.take()
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_uid == 65533)
    held.release()
    #expect(!exists)
  }

  @Test func `a second one waits its time, and learns which process is in the way`() async throws {
    let held = try await lock.take()
    await #expect(throws: FileError.held(LockHolder(process: getpid(), name: "bearer-proxy"))) {
      try await lock.take(within: .milliseconds(300))
    }
    held.release()
    try await lock.take(within: .milliseconds(300)).release()
  }

  @Test func `one that is released in time is taken`() async throws {
    let held = try await lock.take()
    async let next = lock.take(within: .seconds(5))
    // A task that does not wait has asked in vain meanwhile.
    await #expect(throws: FileError.self) { try await lock.take(within: .zero) }
    held.release()
    try await next.release()
    #expect(!exists)
  }

  @Test("stale-lock of a dead process") func staleLockOfTheDead() async throws {
    try leave("\(Self.deadProcess) /usr/bin/az", age: 11)
    let held = try await lock.take(within: .zero)
    #expect(textOfFile(path) == "\(getpid()) bearer-proxy")
    held.release()
    #expect(!exists)
  }

  @Test(
    "stale-lock of a live process, or of a dead one, not ten seconds old",
    arguments: [
      (deadProcess, 8, TimeSpan.zero), (getpid(), 3600, .milliseconds(200)),
    ])
  func staleLockHeld(by process: Int32, age: Int, patience: TimeSpan) async throws {
    try leave("\(process) az", age: age)
    await #expect(throws: FileError.held(LockHolder(process: process, name: "az"))) {
      try await lock.take(within: patience)
    }
    #expect(exists)
  }

  @Test("stale-lock of a dead process that somebody has locked") func staleLockLocked() async throws {
    try leave("\(Self.deadProcess) az", age: 3600)
    let other = open(path, O_RDWR)
    defer { close(other) }
    #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    await #expect(throws: FileError.self) { try await lock.take(within: .milliseconds(200)) }
    #expect(exists)
  }

  @Test func `a lock that another process put there meanwhile is not removed`() async throws {
    let held = try await lock.take()
    unlink(path)
    try directory.write("1 somebody", to: "cache.json.lockfile")
    held.release()
    #expect(textOfFile(path) == "1 somebody")
  }

  @Test func `many take it one after the other, never two at once`() async throws {
    let inside = Locked((now: 0, most: 0, times: 0))
    try await withThrowingTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<3 {
            let file = LockFile(path: path, name: "test", queue: FileQueue("test"))
            let held = try await file.take(within: .seconds(240))
            inside.withLock { state in
              state.now += 1
              state.most = max(state.most, state.now)
              state.times += 1
            }
            for _ in 0..<20 { await Task.yield() }
            inside.withLock { $0.now -= 1 }
            held.release()
          }
        }
      }
      try await group.waitForAll()
    }
    let (_, most, times) = inside.withLock { $0 }
    #expect(most == 1)
    #expect(times == 24)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
  }
}
