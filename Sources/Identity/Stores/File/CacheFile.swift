// The cache in its file: read only when it changed, written over the present contents. Every call waits for the disk;
// `FileBackend` calls it, one at a time, on a queue of its own.

internal import Bytes
internal import Platform
internal import Tokens

enum CacheFileLook: Sendable, Hashable {
  /// The known state.
  case same
  /// Another one, which is known now.
  case different
  /// Perhaps half of a write, and the lock of its writer: a moment later it may be whole.
  case unfinished(LockSight)
  /// Half of a write whose writer has ended. The known state is the last whole one.
  case abandoned
}

/// The known state of the file.
struct CacheFile: Sendable {
  private struct Seen {
    var identity: FileIdentity
    /// Of the file, which may be encrypted. A program that can write it needs no collision to write anything.
    var digest: Fingerprint
    /// Of the document; nil if the file must be written again.
    var text: Fingerprint?
    /// True if any further write must show in the identity.
    var isSettled: Bool
  }

  private let file: SharedFile
  private let seal: CacheSeal
  /// The place to which an encrypted file is bound: the file's name, without its directory.
  private let place: String
  /// True if the file was encrypted when it was read or written last: it may not become a plain one.
  private var isSealed = false
  /// The contents of the last reading or writing.
  private(set) var document = CacheDocument()
  private var seen: Seen?
  private var damage: (digest: Fingerprint, error: CacheDocumentError)?
  /// A possible half of a write, and the time of its first sight.
  private var unfinished: (identity: FileIdentity, since: MonotonicTime)?
  /// Half of a write whose writer has ended.
  private var abandoned: Seen?

  init(path: String, seal: CacheSeal = .none) {
    file = SharedFile(path: path)
    self.seal = seal
    place = CacheFile.place(path)
  }

  /// The place of a file for its encryption.
  static func place(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  /// Reads the file, unless it is the one that is known. `lock` looks at the lock of other writers.
  mutating func look(at time: MonotonicTime = .now, lock: () -> LockSight) throws(CacheStoreError) -> CacheFileLook {
    let now = WallTime.now
    var sight = LockSight.free
    let contents: SharedFile.Contents?
    do throws(FileError) {
      let identity = try file.identity()
      if let seen, seen.isSettled, seen.identity == identity { return .same }
      sight = lock()
      if case .held = sight, let identity, identity == unfinished?.identity, identity.isSettled(at: now) {
        return .unfinished(sight)
      }
      contents = try identity == nil ? nil : file.read()
    } catch .changedWhileRead {
      return .unfinished(sight)
    } catch {
      throw .file(error)
    }
    guard let contents else {
      // A writer that replaces the file may remove it first.
      if case .held = sight, seen != nil { return .unfinished(sight) }
      return forget()
    }
    let digest = Fingerprint(of: contents.bytes)
    let found = Seen(identity: contents.identity, digest: digest, isSettled: contents.identity.isSettled(at: now))
    if digest == seen?.digest {
      let text = seen?.text
      (seen, unfinished, abandoned) = (found, nil, nil)
      seen?.text = text
      return .same
    }
    return try read(contents.bytes, found, sight, at: time, now)
  }

  /// Without a file the cache is empty.
  private mutating func forget() -> CacheFileLook {
    defer {
      (seen, damage, unfinished, abandoned, isSealed) = (nil, nil, nil, nil, false)
      document = CacheDocument()
    }
    return seen == nil ? .same : .different
  }

  private mutating func read(
    _ form: [UInt8], _ found: Seen, _ sight: LockSight, at time: MonotonicTime, _ now: WallTime
  ) throws(CacheStoreError) -> CacheFileLook {
    if let damage, damage.digest == found.digest { throw .damaged(damage.error) }
    let opened = try mapping(CacheStoreError.sealed, seal.open(form, at: place))
    if isSealed, !opened.isSealed, !form.isEmpty { throw .sealed(.plain) }
    let text = opened.text
    let result = Result { () throws(CacheDocumentError) in try CacheDocument(text: text) }
    let isCutOff = if case .failure = result { true } else { !text.contains(UInt8(ascii: "{")) }
    if isCutOff {
      if unfinished?.identity != found.identity { unfinished = (found.identity, time) }
      // Once its writer's lock is taken over, or was removed, it is still half of a write.
      let lock = sight == .free && abandoned?.identity == found.identity ? .abandoned : sight
      let write = UnfinishedWrite(
        lock: lock, age: found.identity.modified.age(at: now), seenFor: time - (unfinished?.since ?? time))
      switch write.verdict {
      case .unfinished: return .unfinished(sight)
      case .abandoned where seen != nil:
        abandoned = found
        return .abandoned
      case .abandoned, .final: break
      }
    }
    (unfinished, abandoned) = (nil, nil)
    do throws(CacheDocumentError) {
      document = try result.get()
    } catch {
      damage = (found.digest, error)
      throw .damaged(error)
    }
    damage = nil
    seen = found
    isSealed = opened.isSealed
    if opened.isCurrent { seen?.text = Fingerprint(of: text) }
    return .different
  }

  /// Makes the next write replace a half-written file. Call with the lock held, after a look that showed it.
  mutating func takeOverAbandoned() {
    guard let abandoned else { return }
    (seen, self.abandoned) = (abandoned, nil)
  }

  /// Replaces the file by `document`; returns the bytes written, 0 if it holds this text already. Call with the lock
  /// held, right after a look.
  mutating func write(_ document: CacheDocument) throws(CacheStoreError) -> Int {
    let text = document.text()
    let digest = Fingerprint(of: text)
    guard digest != seen?.text else { return 0 }
    let form = try mapping(CacheStoreError.sealed, seal.seal(text, at: place))
    do throws(FileError) {
      let identity = try file.replace(with: form, old: seen?.identity)
      // No clock shows the new file's time for any other: the identity is enough to recognise it.
      seen = Seen(identity: identity, digest: Fingerprint(of: form), text: digest, isSettled: true)
    } catch {
      throw .file(error)
    }
    isSealed = form != text
    self.document = document
    return form.count
  }
}
