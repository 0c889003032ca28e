// A Redis server with the commands of the cache, and the connections to it.

import Identity
import Platform
import Tokens

/// The data of a server.
struct RedisData {
  private var strings: [String: (value: [UInt8], end: Double)] = [:]
  private var hashes: [String: [String: [UInt8]]] = [:]
  private var scores: [String: [String: Int64]] = [:]

  private func text(_ key: String, _ now: Double) -> [UInt8]? {
    strings[key].flatMap { now < $0.end ? $0.value : nil }
  }

  private func number(_ key: String, _ now: Double) -> Int64 { text(key, now).flatMap(Int64.init(bytes:)) ?? 0 }

  private mutating func set(_ key: String, _ value: [UInt8], until end: Double = .infinity) {
    strings[key] = (value, end)
  }

  /// The reply to a command of these words.
  mutating func perform(_ words: [[UInt8]], now: Double) -> RedisReply {
    if words[0] == Self.evaluation {
      let count = Int(bytes: words[2]) ?? 0
      let keys = words[3..<(3 + count)].map { String(decoding: $0, as: UTF8.self) }
      return evaluate(words[1], keys: keys, arguments: Array(words.dropFirst(3 + count)), now: now)
    }
    let names = words.map { String(decoding: $0, as: UTF8.self) }
    switch names[0] {
    case "GET": return text(names[1], now).map(RedisReply.text) ?? .null
    case "MGET": return .list(names.dropFirst().map { text($0, now).map(RedisReply.text) ?? .null })
    case "HMGET":
      let hash = hashes[names[1]]
      return .list(names.dropFirst(2).map { hash?[$0].map(RedisReply.text) ?? .null })
    case "SET":
      if names.contains("NX"), text(names[1], now) != nil { return .null }
      let life = names.firstIndex(of: "PX").flatMap { Double(names[$0 + 1]) }
      set(names[1], words[2], until: life.map { now + $0 / 1000 } ?? .infinity)
      return .text(Array("OK".utf8))
    case "ZRANGEBYSCORE":
      let least = names[2].hasPrefix("(") ? (Int64(names[2].dropFirst()) ?? 0) + 1 : Int64(names[2]) ?? .min
      let most = Int64(names[3]) ?? .max
      var found = (scores[names[1]] ?? [:]).filter { $0.value >= least && $0.value <= most }.sorted {
        ($0.value, $0.key) < ($1.value, $1.key)
      }
      if let limit = names.firstIndex(of: "LIMIT") {
        found = Array(found.dropFirst(Int(names[limit + 1]) ?? 0).prefix(Int(names[limit + 2]) ?? 0))
      }
      let isScored = names.contains("WITHSCORES")
      return .list(
        found.flatMap { [RedisReply.text(Array($0.key.utf8))] + (isScored ? [.text(Array("\($0.value)".utf8))] : []) })
    default: return .refusal("ERR")
    }
  }

  private static let evaluation = Array("EVAL".utf8)
  fileprivate static let writing = Array(RedisCommand.write.utf8)
  private static let replacing = Array(RedisCommand.replace.utf8)
  private static let renewing = Array(RedisCommand.renew.utf8)
  private static let releasing = Array(RedisCommand.release.utf8)

  private mutating func evaluate(_ script: [UInt8], keys: [String], arguments: [[UInt8]], now: Double) -> RedisReply {
    switch script {
    case Self.writing: return write(keys, arguments, now)
    case Self.replacing:
      guard (text(keys[0], now) ?? []) == arguments[0] else { return .integer(0) }
      let life = Double(Int64(bytes: arguments[2]) ?? 0) / 1000
      if arguments[1].isEmpty { strings[keys[0]] = nil } else { set(keys[0], arguments[1], until: now + life) }
      return .integer(1)
    case Self.renewing:
      guard text(keys[0], now) == arguments[0] else { return .integer(0) }
      set(keys[0], arguments[0], until: now + Double(Int64(bytes: arguments[1]) ?? 0) / 1000)
      return .integer(1)
    case Self.releasing:
      guard text(keys[0], now) == arguments[0] else { return .integer(0) }
      strings[keys[0]] = nil
      return .integer(1)
    default: return .refusal("NOSCRIPT")
    }
  }

  /// The script `RedisCommand.write`.
  private mutating func write(_ keys: [String], _ arguments: [[UInt8]], _ now: Double) -> RedisReply {
    let shards = keys.dropFirst(5).enumerated().map { (key: $1, at: 2 + $0 * 4) }
    for (key, at) in shards where (hashes[key]?["version"] ?? Array("0".utf8)) != arguments[at + 1] {
      return .integer(0)
    }
    if self.text(keys[0], now) == nil { set(keys[4], arguments[1]) }
    let version = max(number(keys[0], now), Int64(bytes: arguments[0]) ?? 0) + 1
    let text = Array("\(version)".utf8)
    set(keys[0], text)
    for (key, at) in shards {
      let name = String(decoding: arguments[at], as: UTF8.self)
      if arguments[at + 2].isEmpty {
        hashes[key] = nil
        scores[keys[2]]?[name] = nil
        set(keys[1], text)
      } else {
        hashes[key] = ["version": text, "entries": arguments[at + 2]]
        scores[keys[2], default: [:]][name] = version
      }
      var place = 0
      for number in arguments[at + 3].split(separator: 0x20) {
        scores[keys[3], default: [:]]["\(place):\(name)"] = Int64(bytes: Array(number))
        place += 1
      }
      while scores[keys[3]]?.removeValue(forKey: "\(place):\(name)") != nil { place += 1 }
    }
    return .integer(version)
  }
}

extension FixedWidthInteger {
  fileprivate init?(bytes: [UInt8]) { self.init(String(decoding: bytes, as: UTF8.self)) }
}

/// A server that may be away, slow, restarted empty or replaced by a replica. `@unchecked Sendable`: one thread.
final class RedisModel: @unchecked Sendable {
  fileprivate(set) var data = RedisData()
  fileprivate var connections: UInt64 = 0
  /// The number of the last restart: older connections are closed.
  fileprivate var restarts = 0
  var isAway = false
  var loss = 0.0
  var latency = 0.0005...0.003
  /// Seconds after which the replica has a write.
  var lag = 0.001...0.02
  /// Seconds for which a process waits for an answer.
  static let answerLimit = 5.0
  let schedule: Schedule
  /// Receives the document before and after each write of it.
  var onWrite: ((CacheDocument, CacheDocument) -> Void)?
  /// True if processes know that a replica takes over: sentinels or a cluster.
  let isReplicated: Bool
  /// True if one can take over without that.
  let hasReplica: Bool
  /// The parts of a cluster's keys.
  let cells: Int
  /// The number of shards of which a process holds all.
  let holdLimit: Int
  private var replica = RedisData()
  /// Writes so far, and those of them that the replica has.
  fileprivate private(set) var written = 0
  fileprivate private(set) var replicated = 0

  init(
    _ schedule: Schedule, isReplicated: Bool = false, hasReplica: Bool = true, cells: Int = 1,
    holdLimit: Int = CacheStore.holdLimit
  ) {
    (self.schedule, self.isReplicated, self.hasReplica, self.cells) = (schedule, isReplicated, hasReplica, cells)
    self.holdLimit = holdLimit
  }

  fileprivate func perform(_ words: [[UInt8]]) -> RedisReply {
    let isWrite = words.count > 1 && words[1] == RedisData.writing
    let before = isWrite && onWrite != nil ? data.document(prefix: "p:") : CacheDocument()
    let reply = data.perform(words, now: schedule.now)
    if isWrite, let onWrite { onWrite(before, data.document(prefix: "p:")) }
    guard hasReplica, ["SET", "EVAL"].contains(String(decoding: words[0], as: UTF8.self)) else { return reply }
    written += 1
    let (copy, number, life) = (data, written, restarts)
    schedule.at(schedule.now + schedule.random.number(in: lag)) { [self] in
      if restarts == life, number > replicated { (replica, replicated) = (copy, number) }
    }
    return reply
  }

  /// Replaces the server by one with other data; nil: with none.
  func restart(with data: RedisData?) {
    self.data = data ?? RedisData()
    (replica, replicated) = (self.data, written)
    restarts += 1
  }

  /// Replaces the server by its replica, which may lack the last writes.
  func failOver() {
    restart(with: replica)
    isAway = false
  }

  func heal() { (isAway, loss, latency, lag) = (false, 0, 0.0005...0.003, 0.001...0.02) }
}

/// The way of one process to the server. `@unchecked Sendable`: one thread.
final class RedisModelTransport: RedisTransport, @unchecked Sendable {
  private let server: RedisModel
  private let life: ProcessLife
  private var connection: (number: UInt64, restarts: Int)?
  private var failures = 0
  private var pausedUntil = 0.0
  private var failure = RedisFailure.closed
  private var isBusy = false
  private var queue: [UnsafeContinuation<Void, Never>] = []

  init(_ server: RedisModel, _ life: ProcessLife) {
    self.server = server
    self.life = life
  }

  var isReplicated: Bool { server.isReplicated }
  var cells: Int { server.cells }
  private(set) var failingSince: MonotonicTime?

  var pausing: RedisFailure? { life.isAlive && server.schedule.now < pausedUntil ? failure : nil }

  func perform(_ commands: [RedisCommand]) async throws(RedisFailure) -> RedisAnswer {
    if isBusy { await withUnsafeContinuation { queue.append($0) } }
    isBusy = true
    defer { if queue.isEmpty { isBusy = false } else { queue.removeFirst().resume() } }
    if let pausing { throw pausing }
    do throws(RedisFailure) {
      let answer = try await attempt(commands)
      (failures, failingSince) = (0, nil)
      return answer
    } catch {
      connection = nil
      failure = error
      failingSince = failingSince ?? life.monotonicNow
      pausedUntil = server.schedule.now + min(0.1 * Double(1 << min(failures, 5)), 2)
      failures += 1
      throw error
    }
  }

  private func attempt(_ commands: [RedisCommand]) async throws(RedisFailure) -> RedisAnswer {
    if let connection, connection.restarts != server.restarts {
      await travel()
      throw .closed
    }
    await travel()
    guard life.isAlive else { throw .closed }
    if server.isAway || server.schedule.random.chance(server.loss) {
      await life.sleep(connection == nil ? 2 : RedisModel.answerLimit)
      throw .timedOut
    }
    if connection == nil {
      server.connections += 1
      connection = (server.connections, server.restarts)
    }
    let number = connection?.number ?? 0
    var replies: [RedisReply] = []
    for command in commands {
      replies.append(command.name == "WAIT" ? await waitForReplica() : server.perform(Self.words(command)))
    }
    let isLost = server.schedule.random.chance(server.loss)
    await travel()
    if isLost || !life.isAlive {
      await life.sleep(RedisModel.answerLimit)
      throw .timedOut
    }
    for (command, reply) in zip(commands, replies) {
      if case .refusal(let code) = reply { throw .refused(command: command.name, code: code) }
    }
    return RedisAnswer(replies: replies, connection: number)
  }

  /// The replicas that have all that was written so far, after 0.3 seconds at most.
  private func waitForReplica() async -> RedisReply {
    let (number, life) = (server.written, server.restarts)
    for _ in 0..<6 where server.replicated < number { await self.life.sleep(0.05) }
    return .integer(server.restarts == life && server.replicated >= number ? 1 : 0)
  }

  private func travel() async { await life.sleep(server.schedule.random.number(in: server.latency)) }

  private static func words(_ command: RedisCommand) -> [[UInt8]] {
    guard case .reply(let reply, _) = RedisReplyReader.read(command.bytes.span), let elements = reply.elements else {
      preconditionFailure("a command is not in Redis's protocol")
    }
    return elements.map { if case .text(let word) = $0 { word } else { [] } }
  }
}

extension RedisModel {
  /// The cache's document in the server's data.
  func document(prefix: String) -> CacheDocument { data.document(prefix: prefix) }
}

extension RedisData {
  fileprivate func document(prefix: String) -> CacheDocument {
    var document = CacheDocument()
    for (key, hash) in hashes.sorted(by: { $0.key < $1.key }) where key.hasPrefix(prefix) {
      do throws(CacheDocumentError) {
        let shard = try CacheDocument(text: hash["entries"] ?? [])
        for place in shard.places { document.replace(place, with: shard[place]) }
      } catch {
        preconditionFailure("a shard is not a cache: \(error)")
      }
    }
    return document
  }
}
