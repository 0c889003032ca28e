internal import Bytes
internal import Platform

/// The waits for a replica to have a write, so that the server that takes over knows it. Commands of a connection wait
/// for one another: if no replica answers, the next writes do not wait for one.
struct ReplicaWait: Sendable {
  /// The time for which a replica that did not answer counts as gone.
  static let pause = TimeSpan.seconds(10)

  /// The times at which no replica had a write in time, by cell.
  private var missed: [Int: MonotonicTime] = [:]

  /// Waits for a replica to have the writes before it on the connection; returns the number of those that do.
  func command(_ cell: Int, at now: MonotonicTime) -> RedisCommand {
    let isGone = missed[cell].map { now - $0 < Self.pause } ?? false
    // Zero would wait for ever.
    return RedisCommand("WAIT", "1", isGone ? "1" : "300").about(cell)
  }

  mutating func ended(_ cell: Int, replicas: Int64, at now: MonotonicTime) {
    missed[cell] = replicas > 0 ? nil : now
  }
}

extension Locked<ReplicaWait> {
  /// True if a replica has the writes before it on the connection.
  func run(
    on client: any RedisTransport, _ cell: Int, _ now: @Sendable () -> MonotonicTime
  ) async throws(RedisFailure) -> Bool {
    let command = withLock { $0.command(cell, at: now()) }
    let replicas = try await client.perform(command).number ?? 0
    withLock { $0.ended(cell, replicas: replicas, at: now()) }
    return replicas > 0
  }
}
