// Owns when the file is read: at the start, when its directory says so, and where it cannot be heard, every second.

internal import Network
internal import Tokens

extension FileCacheStore {
  /// How often a text that may be half a write is looked at, and how long after one another.
  private static let looks = 3
  private static let pause = Duration.milliseconds(100)

  /// Looks at the file, and again where it is being written. The reason it could not be read is returned, and reported.
  func reread() async -> CacheStoreError? {
    for look in 1...Self.looks {
      switch await queue.run({ self.look(isLast: look == Self.looks) }) {
      case .success(.torn):
        // A cancelled task has no time to wait: it believes what it has.
        do { try await Task.sleep(for: Self.pause) } catch { return nil }
      case .success: return nil
      case .failure(let error): return error
      }
    }
    return nil
  }

  /// On the queue: looks once.
  func look(isLast: Bool) -> Result<CacheFileLook, CacheStoreError> {
    let began = MonotonicTime.now
    var file = state.withLock { $0.file }
    do throws(CacheStoreError) {
      let look = try file.look(isLast: isLast)
      guard look != .torn else { return .success(.torn) }
      // Let go of at the end of this function: wiping a big document is nothing to do while others wait for the lock.
      let before = state.withLock { ($0.file, $0.document) }
      defer { withExtendedLifetime(before) {} }
      let hadTrouble = state.withLock { state in
        state.file = file
        if look == .different {
          state.document = file.document
          for change in state.unwritten { change(&state.document) }
          state.listeners.tell()
        }
        defer { state.readTrouble = nil }
        return state.readTrouble != nil
      }
      if look == .different { observe(.read(duration: Duration(MonotonicTime.now - began))) }
      if hadTrouble { recovered() }
      return .success(look)
    } catch {
      let (kept, isNews) = state.withLock { state in
        state.file = file
        defer { state.readTrouble = error }
        return (state.unwritten.count, state.readTrouble != error)
      }
      observe(.failed(error, kept: kept, isNews: isNews))
      return .failure(error)
    }
  }

  /// What could not be written while the file could not be read, can be now.
  private func recovered() {
    let (isAllWritten, isAllWell) = state.withLock { ($0.unwritten.isEmpty, $0.writeTrouble == nil) }
    if isAllWritten, isAllWell { observe(.recovered) } else { startWriting() }
  }

  /// Hears of changes from now on: from the system, or where it does not tell, by looking.
  func watch() {
    if !startWatch() { Task { [weak self] in await Self.poll { self } } }
  }

  private func startWatch() -> Bool {
    do throws(SystemError) {
      let watch = try DirectoryWatch(path: path) { [weak self] event in
        switch event {
        case .changed: self?.lookSoon()
        case .lost: self?.lose()
        }
      }
      state.withLock { $0.watch = watch }
      return true
    } catch {
      // No directory yet, a file system on another machine, or too many watches: looking works always.
      return false
    }
  }

  /// The directory went away. Another may come.
  private func lose() {
    state.withLock { $0.watch = nil }
    lookSoon()
    watch()
  }

  private static func poll(_ store: () -> FileCacheStore?) async {
    while true {
      // Shorter than a second, so that what others do is seen within one.
      do { try await Task.sleep(for: .milliseconds(700)) } catch { return }
      guard let store = store() else { return }
      if store.startWatch() { return store.lookSoon() }
      _ = await store.reread()
    }
  }

  /// Looks in a moment, once for whatever is heard until then.
  private func lookSoon() {
    let mustStart = state.withLock { state in
      state.mustLookAgain = true
      defer { state.isLooking = true }
      return !state.isLooking
    }
    guard mustStart else { return }
    Task {
      repeat {
        // MSAL for Python writes up to five times for one sign-in.
        do { try await Task.sleep(for: .milliseconds(20)) } catch {}
        state.withLock { $0.mustLookAgain = false }
        _ = await reread()
      } while state.withLock { state in
        state.isLooking = state.mustLookAgain
        return state.isLooking
      }
    }
  }
}
