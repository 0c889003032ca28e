// Owns small texts beside the cache that several processes change: what a sign-in has to bring, what is known of providers. They hold no
// token. Losing one loses a convenience.

internal import Network
internal import Tokens

/// A text beside the cache.
protocol SideText: Sendable {
  /// What stands there now, empty where nothing does; nil where it cannot be read, or not soon.
  func read() async -> [UInt8]?

  /// Replaces the text by what `change` makes of it, unless that is the same; whether it stands there then. nil leaves the text alone.
  /// `change` may be applied more than once.
  func change(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) async -> Bool
}

/// A file. It is written as the cache is: under a lock of its own, replaced whole, readable for its owner only.
struct SideFile: SideText {
  private let file: SharedFile
  private let queue = FileQueue("side text")
  private let lock: LockFile

  /// The file at a path.
  init(path: String) {
    file = SharedFile(path: path)
    lock = LockFile(path: path + ".lockfile", name: "bearer-proxy", queue: queue)
  }

  func read() async -> [UInt8]? {
    await queue.run { contents()?.text }
  }

  func change(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) async -> Bool {
    let held: HeldLockFile
    do throws(LockFileError) {
      held = try await lock.take()
    } catch {
      return false
    }
    let isWritten = await queue.run { () -> Bool in
      guard let (old, text) = contents() else { return false }
      guard let next = change(text), next != text else { return true }
      do throws(SharedFileError) {
        _ = try file.replace(with: next, old: old)
        return true
      } catch {
        return false
      }
    }
    await queue.run { held.release() }
    return isWritten
  }

  private func contents() -> (identity: FileIdentity?, text: [UInt8])? {
    do throws(SharedFileError) {
      guard let contents = try file.read() else { return (nil, []) }
      return (contents.identity, contents.bytes)
    } catch {
      return nil
    }
  }
}

/// A key on the Redis server that holds the cache. It ends by itself when nobody has written it for its lifetime.
struct SideKey: SideText {
  let client: RedisClient
  let key: String
  /// Seconds.
  let lifetime: Int64

  /// How long whoever asks waits: probes are among them, and a server that hangs must not fail them.
  private static let patience = Duration.milliseconds(500)
  /// How often others may be faster.
  private static let attempts = 10

  func read() async -> [UInt8]? {
    await withCheckedContinuation { continuation in
      let waiting = Locked<CheckedContinuation<[UInt8]?, Never>?>(continuation)
      let answer: @Sendable ([UInt8]?) -> Void = { text in
        waiting.withLock { waiting in
          defer { waiting = nil }
          return waiting
        }?.resume(returning: text)
      }
      let limit = Task {
        do { try await Task.sleep(for: Self.patience) } catch { return }
        answer(nil)
      }
      Task {
        answer(await text())
        limit.cancel()
      }
    }
  }

  func change(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) async -> Bool {
    for _ in 0..<Self.attempts {
      guard let text = await text() else { return false }
      guard let next = change(text), next != text else { return true }
      let command = RedisCommand.script(
        RedisCommand.replace, keys: [key], arguments: [text, next, Array("\(lifetime * 1000)".utf8)])
      do throws(RedisFailure) {
        if try await client.perform(command).number == 1 { return true }
      } catch {
        return false
      }
    }
    return false
  }

  /// What stands in the key, empty where it is not there; nil where that cannot be told. What keeps the server from answering is the
  /// cache's to report.
  private func text() async -> [UInt8]? {
    do throws(RedisFailure) {
      if case .text(let text) = try await client.perform(RedisCommand("GET", key)) { return text }
      return []
    } catch {
      return nil
    }
  }
}
