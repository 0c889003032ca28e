import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct DirectoryWatchTests {
  let directory: TemporaryDirectory
  let heard = Locked<[DirectoryWatch.Event]>([])
  let events = Tally()

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func watch(_ path: String = "cache.json") throws -> DirectoryWatch {
    try DirectoryWatch(path: directory.file(path)) { event in
      heard.withLock { $0.append(event) }
      events.signal()
    }
  }

  /// Waits until `change` is reported as `event`.
  private func hear(_ event: DirectoryWatch.Event, of change: () throws -> Void) async throws {
    heard.withLock { $0 = [] }
    try change()
    await events.wait { heard.withLock { $0.contains(event) } }
  }

  @Test func `writing in place, replacing, changing the mode and removing are all heard`() async throws {
    let watch = try watch()
    try await hear(.changed) { try directory.write("{}", to: "cache.json") }
    try await hear(.changed) { _ = try SharedFile(path: directory.file("cache.json")).replace(with: [], old: nil) }
    try await hear(.changed) { chmod(directory.file("cache.json"), 0o644) }
    try await hear(.changed) { unlink(directory.file("cache.json")) }
    withExtendedLifetime(watch) {}
  }

  @Test func `the neighbours are not heard`() async throws {
    let watch = try watch()
    try directory.write("1 x", to: "cache.json.lockfile")
    unlink(directory.file("cache.json.lockfile"))
    // A later change is reported, so an earlier one would have been.
    try await hear(.changed) { try directory.write("{}", to: "cache.json") }
    #expect(heard.withLock { $0.count } <= 2)
    withExtendedLifetime(watch) {}
  }

  @Test func `a directory that goes away is noticed`() async throws {
    mkdir(directory.file("inner"), 0o700)
    let watch = try watch("inner/cache.json")
    try await hear(.lost) { rmdir(directory.file("inner")) }
    withExtendedLifetime(watch) {}
  }
}
