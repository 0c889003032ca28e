// Owns the file beside the cache in which processes tell one another what a sign-in has to bring. It holds no token. It is written as
// the cache is: under a lock of its own, replaced whole, readable for its owner only. Losing it loses a convenience.

internal import Network
internal import Tokens

/// What routes of several processes need, by subject.
struct ChallengeFile: ChallengeStore {
  private let file: SharedFile
  private let queue = FileQueue("challenges")
  private let lock: LockFile

  /// The file at a path.
  init(path: String) {
    file = SharedFile(path: path)
    lock = LockFile(path: path + ".lockfile", name: "bearer-proxy", queue: queue)
  }

  /// What the file says now; nil where it cannot be read.
  func read() async -> [String: SignInNeed]? {
    await queue.run { contents()?.needs }
  }

  /// Changes the file; whether that worked.
  func change(now: UnixTime, _ change: @escaping @Sendable (inout [String: SignInNeed]) -> Void) async -> Bool {
    let held: HeldLockFile
    do throws(LockFileError) {
      held = try await lock.take()
    } catch {
      return false
    }
    let isWritten = await queue.run { () -> Bool in
      guard let (old, known) = contents() else { return false }
      var needs = known.filter { !$0.value.isOver(at: now) }
      change(&needs)
      if needs == known { return true }
      do throws(SharedFileError) {
        _ = try file.replace(with: ChallengeText.bytes(needs), old: old)
        return true
      } catch {
        return false
      }
    }
    await queue.run { held.release() }
    return isWritten
  }

  /// A file that holds something else is replaced with the next change.
  private func contents() -> (identity: FileIdentity?, needs: [String: SignInNeed])? {
    do throws(SharedFileError) {
      guard let contents = try file.read() else { return (nil, [:]) }
      return (contents.identity, ChallengeText.needs(contents.bytes))
    } catch {
      return nil
    }
  }
}
