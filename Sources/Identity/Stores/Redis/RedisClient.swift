internal import Bytes
package import Platform
internal import Tokens

/// A way to a Redis server.
package protocol RedisTransport: Sendable {
  /// The reason why nothing is sent at present; nil if it would be.
  var pausing: RedisFailure? { get }

  /// True if other servers replace one that is lost.
  var isReplicated: Bool { get }

  /// The beginning of the present failures; nil if there are none.
  var failingSince: MonotonicTime? { get }

  /// The number of parts between which keys are divided, each on one server.
  var cells: Int { get }

  /// Performs commands together, and throws if one of them is refused, at once during a pause.
  func perform(_ commands: [RedisCommand]) async throws(RedisFailure) -> RedisAnswer
}

extension RedisTransport {
  package var isReplicated: Bool { false }
  package var failingSince: MonotonicTime? { nil }
  package var cells: Int { 1 }

  func perform(_ command: RedisCommand) async throws(RedisFailure) -> RedisReply {
    try await perform([command]).replies[0]
  }
}

/// The replies to commands.
package struct RedisAnswer: Sendable {
  /// One for each command; none of them a refusal.
  package var replies: [RedisReply]
  /// The connection's number: after a change of it, the events in between are unknown.
  package var connection: UInt64

  package init(replies: [RedisReply], connection: UInt64) {
    self.replies = replies
    self.connection = connection
  }
}

/// Performs commands on one Redis server, over one connection that one task uses at a time. It connects if there is no
/// connection, after a failure not at once. Sentinels are asked for the server's place before each connection.
final class RedisClient: RedisTransport {
  private struct State {
    var connection: Confined<RedisConnection>?
    var number: UInt64 = 0
    /// The credential of the connection.
    var credential: UInt64 = 0
    /// The credential that the server refused on the open connection, and the time of the next attempt.
    var refused: (credential: UInt64, until: MonotonicTime)?
    var pause = RedisPause()
    var sentinels: RedisSentinels?
  }

  /// The pause after a refused renewal on an open connection.
  private static let refusalPause = TimeSpan.seconds(30)

  private let way: RedisWay
  private let place: RedisPlace
  private let observe: @Sendable (CacheStoreEvent) -> Void
  private let state: Locked<State>
  private let queue = TaskQueue()

  /// - Parameter place: the place of the server, unless sentinels know it.
  init(_ way: RedisWay, _ place: RedisPlace, observe: @escaping @Sendable (CacheStoreEvent) -> Void) {
    (self.way, self.place, self.observe) = (way, place, observe)
    var state = State()
    if case .sentinels(let sentinels) = way.server.arrangement {
      state.sentinels = RedisSentinels(way.server, sentinels)
    }
    self.state = Locked(state)
  }

  deinit {
    guard let connection = state.withLock({ $0.connection }) else { return }
    Task(executorPreference: way.loop) { connection.value.close() }
  }

  var isReplicated: Bool { way.server.isReplicated }

  var failingSince: MonotonicTime? { state.withLock { $0.pause.failingSince } }

  var pausing: RedisFailure? { state.withLock { $0.pause.reason(at: .now) } }

  /// The same, with refusals among the replies, which may be redirections within a cluster.
  func exchange(_ commands: [RedisCommand]) async -> Result<RedisAnswer, RedisFailure> {
    await queue.run { [self] in await Task(executorPreference: way.loop) { await self.attempt(commands) }.value }
  }

  func perform(_ commands: [RedisCommand]) async throws(RedisFailure) -> RedisAnswer {
    let answer = try await exchange(commands).get()
    for (command, reply) in zip(commands, answer.replies) {
      let code: String
      switch reply {
      case .refusal(let word): code = word
      case .redirection: code = "MOVED"
      default: continue
      }
      let failure = RedisFailure.refused(command: command.name, code: code)
      await Task(executorPreference: way.loop) { self.fail(failure) }.value
      throw failure
    }
    return answer
  }

  private func attempt(_ commands: [RedisCommand]) async -> Result<RedisAnswer, RedisFailure> {
    if let failure = pausing { return .failure(failure) }
    do throws(RedisFailure) {
      let connection = try await connected()
      try await renewCredential(connection)
      let replies = try await connection.value.perform(commands, until: .now + way.timing.command)
      return .success(RedisAnswer(replies: replies, connection: state.withLock { $0.number }))
    } catch {
      fail(error)
      return .failure(error)
    }
  }

  private func connected() async throws(RedisFailure) -> Confined<RedisConnection> {
    if let connection = state.withLock({ $0.connection }) { return connection }
    let credential = try await way.credential()
    let isInCluster = way.server.arrangement == .cluster
    let made = try await way.connect(
      try await primary(), credential, database: isInCluster ? nil : way.server.database,
      until: .now + way.timing.connect)
    let connection = Confined(made, to: way.loop)
    state.withLock { state in
      state.connection = connection
      state.credential = credential?.id ?? 0
      state.number += 1
      state.pause = RedisPause()
    }
    return connection
  }

  private func primary() async throws(RedisFailure) -> RedisPlace {
    guard var sentinels = state.withLock({ $0.sentinels }) else { return place }
    let primary = try await sentinels.primary(way)
    state.withLock { [sentinels] in $0.sentinels = sentinels }
    return primary
  }

  /// Authenticates an open connection with a newer token: the server cuts it at the end of the former one.
  private func renewCredential(_ connection: Confined<RedisConnection>) async throws(RedisFailure) {
    guard let credential = way.tokens?.newest else { return }
    let isDue = state.withLock { state in
      if state.credential == credential.id { return false }
      return state.refused.map { $0.credential != credential.id || $0.until <= .now } ?? true
    }
    guard isDue else { return }
    let reply = try await connection.value.perform([.authenticate(credential)], until: .now + way.timing.command)[0]
    guard case .refusal(let code) = reply else {
      return state.withLock { ($0.credential, $0.refused) = (credential.id, nil) }
    }
    let isNews = state.withLock { state in
      defer { state.refused = (credential.id, .now + Self.refusalPause) }
      return state.refused?.credential != credential.id
    }
    if isNews { observe(.refusedRenewal(code: code)) }
  }

  /// The next attempt begins with a new connection: a name may no longer lead to the one that refused.
  private func fail(_ failure: RedisFailure) {
    let connection = state.withLock { state in
      state.pause.failed(failure, at: .now, jitter: Double.random(in: 0..<1))
      defer { state.connection = nil }
      return state.connection
    }
    connection?.value.close()
  }
}

/// The failures since a server was used last, and the pause after them: 100 ms, doubled after each failure up to 2 s,
/// and up to a quarter less so that replicas do not return in step.
struct RedisPause: Sendable {
  private var failures = 0
  private var last: RedisFailure?
  private var end = MonotonicTime(nanoseconds: 0)
  /// The time of the first failure; nil if there is none.
  private(set) var failingSince: MonotonicTime?

  private static let first = TimeSpan.milliseconds(100)
  private static let longest = TimeSpan.seconds(2)

  /// The reason of the pause; nil if it is over.
  func reason(at now: MonotonicTime) -> RedisFailure? { now < end ? last : nil }

  /// Begins a pause. `jitter` is 0 up to 1.
  mutating func failed(_ failure: RedisFailure, at now: MonotonicTime, jitter: Double) {
    let whole = min(Self.first.nanoseconds << UInt64(min(failures, 10)), Self.longest.nanoseconds)
    failures += 1
    (last, failingSince) = (failure, failingSince ?? now)
    end = now + TimeSpan(nanoseconds: whole - UInt64(Double(whole) * 0.25 * jitter))
  }
}
