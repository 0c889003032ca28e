// What is heard of a file: every way of changing it, and nothing of its neighbours.

import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct DirectoryWatchTests {
  let directory: TemporaryDirectory
  let heard = Locked<[DirectoryWatch.Event]>([])

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func watch() throws -> DirectoryWatch {
    try DirectoryWatch(path: directory.file("cache.json")) { event in heard.withLock { $0.append(event) } }
  }

  private func hears(_ event: DirectoryWatch.Event, _ change: () throws -> Void) async throws -> Bool {
    heard.withLock { $0 = [] }
    try change()
    return try await eventually { heard.withLock { $0.contains(event) } }
  }

  @Test func `writing in place, replacing, changing the mode and removing are all heard`() async throws {
    let watch = try watch()
    #expect(try await hears(.changed) { try directory.write("{}", to: "cache.json") })
    #expect(
      try await hears(.changed) { _ = try SharedFile(path: directory.file("cache.json")).replace(with: [], old: nil) })
    #expect(try await hears(.changed) { chmod(directory.file("cache.json"), 0o644) })
    #expect(try await hears(.changed) { unlink(directory.file("cache.json")) })
    withExtendedLifetime(watch) {}
  }

  @Test func `the neighbours are not heard`() async throws {
    let watch = try watch()
    try directory.write("1 x", to: "cache.json.lockfile")
    unlink(directory.file("cache.json.lockfile"))
    // What comes after it is heard, so it would have been.
    #expect(try await hears(.changed) { try directory.write("{}", to: "cache.json") })
    #expect(heard.withLock { $0.count } <= 2)
    withExtendedLifetime(watch) {}
  }

  @Test func `a directory that goes away is noticed`() async throws {
    let inner = directory.file("inner")
    mkdir(inner, 0o700)
    let watch = try DirectoryWatch(path: inner + "/cache.json") { event in heard.withLock { $0.append(event) } }
    #expect(try await hears(.lost) { rmdir(inner) })
    withExtendedLifetime(watch) {}
  }
}
