// A cache file as several processes see it: replaced whole, with the writers' lock and the locks of renewals, both
// released by the end of their holder.

import Bytes
import Identity
import Platform
import Tokens

/// The file and its locks. `@unchecked Sendable`: one thread.
final class FileModel: @unchecked Sendable {
  var document = CacheDocument()
  fileprivate var version = 1
  fileprivate var texts: [String: [UInt8]] = [:]
  fileprivate var writer: ProcessLife?
  fileprivate var renewals: [UInt64: ProcessLife] = [:]
  fileprivate var watchers: [(life: ProcessLife, look: @Sendable () async -> Bool)] = []
  /// True if the disk is full, or the file read-only.
  var isUnwritable = false
  /// Seconds that the disk takes.
  var latency = 0.001...0.01
  /// Receives the document before and after each write.
  var onWrite: (CacheDocument, CacheDocument) -> Void = { _, _ in }
  let schedule: Schedule

  init(_ schedule: Schedule) { self.schedule = schedule }

  fileprivate func replace(with document: CacheDocument, by life: ProcessLife) {
    onWrite(self.document, document)
    self.document = document
    version += 1
    watchers.removeAll { !$0.life.isAlive }
    for watcher in watchers where watcher.life !== life {
      schedule.at(schedule.now + schedule.random.number(in: 0.02...0.1)) { Task { _ = await watcher.look() } }
    }
  }
}

/// The file in one process.
final class FileModelBackend: CacheBackend, @unchecked Sendable {
  let retryPause = Duration.seconds(10)
  let isPaused = false
  private let file: FileModel
  private let life: ProcessLife
  private var seen = 0
  private var known = CacheDocument()

  init(_ file: FileModel, _ life: ProcessLife) {
    self.file = file
    self.life = life
  }

  func watch(_ look: @escaping @Sendable () async -> Bool) { file.watchers.append((life, look)) }

  private func travel() async { await life.sleep(file.schedule.random.number(in: file.latency)) }

  func read(mayForget: Bool) async throws(CacheStoreError) -> CacheDocument? {
    await travel()
    guard life.isAlive else { throw .contended }
    if seen == file.version { return nil }
    (seen, known) = (file.version, file.document)
    return known
  }

  func replace(
    _ change: @escaping @Sendable (inout CacheDocument) -> Void
  ) async throws(CacheStoreError) -> CacheReplacement? {
    var document = known
    change(&document)
    await travel()
    guard life.isAlive else { throw .contended }
    if seen != file.version { return nil }
    if file.isUnwritable { throw .file(.changedWhileRead) }
    file.replace(with: document, by: life)
    (seen, known) = (file.version, document)
    // The new file is there, and its writer may end before it knows.
    await travel()
    return (document, 1)
  }

  /// True if a lock is free, or its holder has ended.
  private func isFree(_ holder: ProcessLife?) -> Bool { holder.map { !$0.isAlive } ?? true }

  func lock() async throws(CacheStoreError) -> CacheLease? {
    let end = file.schedule.now + 5
    await travel()
    while !isFree(file.writer) {
      guard file.schedule.now < end else { throw .locked(nil) }
      await life.sleep(file.schedule.random.number(in: 0.02...0.1))
    }
    guard life.isAlive else { throw .contended }
    file.writer = life
    return CacheLease { [file, life] in if file.writer === life { file.writer = nil } }
  }

  func lease(_ key: String, within limit: TimeSpan) async -> CacheLease? {
    let number = key.fnv1a
    let end = file.schedule.now + Double(limit.nanoseconds) / 1e9
    await travel()
    while !isFree(file.renewals[number]) {
      guard file.schedule.now < end, life.isAlive else { return nil }
      await life.sleep(file.schedule.random.number(in: 0.02...0.1))
    }
    guard life.isAlive else { return nil }
    file.renewals[number] = life
    return CacheLease { [file, life] in if file.renewals[number] === life { file.renewals[number] = nil } }
  }

  func text(_ name: SharedTextName) -> any SharedText { FileModelText(file: file, life: life, name: name.rawValue) }
}

private struct FileModelText: SharedText {
  let file: FileModel
  let life: ProcessLife
  let name: String

  func read() async -> [UInt8]? {
    await life.sleep(0.001)
    return file.texts[name] ?? []
  }

  func change(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) async -> Bool {
    await life.sleep(0.001)
    guard life.isAlive, !file.isUnwritable else { return false }
    if let next = change(file.texts[name] ?? []) { file.texts[name] = next }
    return true
  }
}
