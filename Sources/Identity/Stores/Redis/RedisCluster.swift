internal import Bytes
internal import Platform
internal import Tokens

/// Performs commands on the nodes of a cluster. Any node is asked until MOVED names the owner of a cell.
final class RedisCluster: RedisTransport {
  private struct State {
    var nodes: [RedisPlace: RedisClient] = [:]
    /// By cell.
    var owners: [Int: RedisPlace] = [:]
    /// The connections of the nodes, as last seen, and the number of changes among them.
    var connections: [RedisPlace: UInt64] = [:]
    var number: UInt64 = 0
    /// The place among the known ones that is asked for unknown owners.
    var turn = 0
    var pause = RedisPause()
  }

  /// The node that a command goes to.
  private struct Target: Hashable {
    var place: RedisPlace
    /// True if the node takes the command only this time, and is told so.
    var isExceptional: Bool
  }

  private typealias Outcome = (commands: [Int], target: Target, result: Result<RedisAnswer, RedisFailure>)

  private static let redirections = 8

  let cells = 64
  let isReplicated = true
  private let way: RedisWay
  private let observe: @Sendable (CacheStoreEvent) -> Void
  private let state = Locked(State())

  init(_ way: RedisWay, observe: @escaping @Sendable (CacheStoreEvent) -> Void) {
    (self.way, self.observe) = (way, observe)
  }

  var pausing: RedisFailure? { state.withLock { $0.pause.reason(at: .now) } }

  var failingSince: MonotonicTime? { state.withLock { $0.pause.failingSince } }

  func perform(_ commands: [RedisCommand]) async throws(RedisFailure) -> RedisAnswer {
    if let failure = pausing { throw failure }
    do throws(RedisFailure) {
      let replies = try await replies(to: commands)
      return state.withLock { state in
        state.pause = RedisPause()
        return RedisAnswer(replies: replies, connection: state.number)
      }
    } catch {
      state.withLock { $0.pause.failed(error, at: .now, jitter: Double.random(in: 0..<1)) }
      throw error
    }
  }

  private func replies(to commands: [RedisCommand]) async throws(RedisFailure) -> [RedisReply] {
    var replies = [RedisReply](repeating: .null, count: commands.count)
    var groups = Dictionary(grouping: commands.indices) { target(of: commands[$0].cell) }
    for _ in 0...Self.redirections {
      var redirected: [Target: [Int]] = [:]
      var failure: RedisFailure?
      for outcome in await outcomes(of: groups, commands) {
        do throws(RedisFailure) {
          let answer = try outcome.result.get()
          note(answer.connection, of: outcome.target.place)
          for (target, indices) in try take(answer.replies, of: outcome, commands, into: &replies) {
            redirected[target, default: []] += indices
          }
        } catch {
          forget(outcome.target.place)
          failure = error
        }
      }
      if let failure { throw failure }
      if redirected.isEmpty { return replies }
      groups = redirected.mapValues { $0.sorted() }
    }
    throw .refused(command: commands[0].name, code: "MOVED")
  }

  /// Keeps replies, and returns the commands that another node has to be asked for.
  private func take(
    _ answers: [RedisReply], of outcome: Outcome, _ commands: [RedisCommand], into replies: inout [RedisReply]
  ) throws(RedisFailure) -> [Target: [Int]] {
    var redirected: [Int: Target] = [:]
    var left: [Target: [Int]] = [:]
    for (index, reply) in zip(outcome.commands, answers) {
      let cell = commands[index].cell
      switch reply {
      case .redirection(let place, let isForGood):
        let place = place.host.isEmpty ? RedisPlace(host: outcome.target.place.host, port: place.port) : place
        if isForGood { own(cell, place) }
        redirected[cell] = Target(place: place, isExceptional: !isForGood)
      case .refusal(let code): throw .refused(command: commands[index].name, code: code)
      default: replies[index] = reply
      }
      // Commands behind a redirected one go to the other node, too: WAIT is about no key.
      if let target = redirected[cell] { left[target, default: []].append(index) }
    }
    return left
  }

  private func outcomes(of groups: [Target: [Int]], _ commands: [RedisCommand]) async -> [Outcome] {
    await withTaskGroup(of: Outcome.self) { group in
      for (target, indices) in groups {
        let node = node(at: target.place)
        group.addTask {
          let isAsking = target.isExceptional
          let sent = indices.flatMap { isAsking ? [RedisCommand("ASKING"), commands[$0]] : [commands[$0]] }
          let result = await node.exchange(sent).map { answer in
            let replies = answer.replies.enumerated().filter { !isAsking || $0.offset % 2 == 1 }.map(\.element)
            return RedisAnswer(replies: replies, connection: answer.connection)
          }
          return (indices, target, result)
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  private func target(of cell: Int) -> Target {
    state.withLock { state in
      if let owner = state.owners[cell] { return Target(place: owner, isExceptional: false) }
      let known = Set(way.server.places + state.nodes.keys).sorted { ($0.host, $0.port) < ($1.host, $1.port) }
      return Target(place: known[state.turn % known.count], isExceptional: false)
    }
  }

  private func node(at place: RedisPlace) -> RedisClient {
    state.withLock { state in
      if let node = state.nodes[place] { return node }
      let node = RedisClient(way, place, observe: observe)
      state.nodes[place] = node
      return node
    }
  }

  private func note(_ connection: UInt64, of place: RedisPlace) {
    state.withLock { state in
      if state.connections.updateValue(connection, forKey: place) != connection { state.number += 1 }
    }
  }

  /// Records the owner of a cell. Another one may lack what the former had, also over a connection that is known.
  private func own(_ cell: Int, _ place: RedisPlace) {
    state.withLock { state in
      if let former = state.owners.updateValue(place, forKey: cell), former != place { state.number += 1 }
    }
  }

  /// Others are asked next for what a node had.
  private func forget(_ place: RedisPlace) {
    state.withLock { state in
      state.owners = state.owners.filter { $0.value != place }
      state.connections[place] = nil
      state.number += 1
      state.turn += 1
    }
  }
}
