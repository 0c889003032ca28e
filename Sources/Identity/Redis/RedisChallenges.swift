// Owns the key beside a cache on a Redis server in which replicas tell one another what a sign-in has to bring. It holds no token, and
// ends by itself when nobody has written it for as long as a need lasts.

internal import Network
internal import Tokens

/// What routes of several replicas need, in one key.
struct RedisChallenges: ChallengeStore {
  let client: RedisClient
  let key: String

  /// How long whoever asks waits: probes are among them, and a server that hangs must not fail them.
  private static let patience = Duration.milliseconds(500)
  /// How often others may be faster.
  private static let attempts = 10

  /// What the server says; nil where it says nothing soon.
  func read() async -> [String: SignInNeed]? {
    await withCheckedContinuation { continuation in
      let waiting = Locked<CheckedContinuation<[String: SignInNeed]?, Never>?>(continuation)
      let answer: @Sendable ([String: SignInNeed]?) -> Void = { needs in
        waiting.withLock { waiting in
          defer { waiting = nil }
          return waiting
        }?.resume(returning: needs)
      }
      let limit = Task {
        do { try await Task.sleep(for: Self.patience) } catch { return }
        answer(nil)
      }
      Task {
        answer(await text().map(ChallengeText.needs))
        limit.cancel()
      }
    }
  }

  /// Changes the key; where another replica was faster, what that left.
  func change(now: UnixTime, _ change: @escaping @Sendable (inout [String: SignInNeed]) -> Void) async -> Bool {
    for _ in 0..<Self.attempts {
      guard let text = await text() else { return false }
      let known = ChallengeText.needs(text).filter { !$0.value.isOver(at: now) }
      var needs = known
      change(&needs)
      if needs == known { return true }
      let lifetime = Array("\(SignInNeed.lifetime * 1000)".utf8)
      let command = RedisCommand.script(
        RedisCommand.replace, keys: [key], arguments: [text, needs.isEmpty ? [] : ChallengeText.bytes(needs), lifetime])
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
