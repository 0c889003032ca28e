internal import Bytes

/// A key on the Redis server that holds the cache. The server removes it when it was not written for its lifetime.
struct RedisText: SharedText {
  let client: any RedisTransport
  let key: String
  /// Seconds.
  let lifetime: Int64
  let sleep: StoreSurroundings.Pause

  /// Wait of a reader: probes are among them, and a server that hangs must not fail them.
  private static let patience = Duration.milliseconds(500)
  /// Attempts when others are faster.
  private static let attempts = 10

  func read() async -> [UInt8]? {
    await FirstAnswer.wait(for: { await text() }, within: { await sleep(Self.patience) }) ?? nil
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

  /// The contents of the key, empty if there is none; nil if they cannot be read.
  private func text() async -> [UInt8]? {
    do throws(RedisFailure) {
      if case .text(let text) = try await client.perform(RedisCommand("GET", key)) { return text }
      return []
    } catch {
      return nil
    }
  }
}
