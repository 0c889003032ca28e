internal import Bytes
internal import HTTPClient
internal import Platform

/// An authenticated connection. Confined to its loop; one task at a time uses it.
final class RedisConnection {
  private let connection: ByteStream
  private let waiter: Waiter
  private var input = ByteBuffer(capacity: 16 * 1024)

  /// Connects, authenticates and selects the database; sentinels and clusters have none.
  init(
    _ origin: Origin, _ credential: RedisCredential?, database: Int?, loop: EventLoop, resolver: Resolver,
    until deadline: MonotonicTime
  ) async throws(RedisFailure) {
    waiter = Waiter(loop)
    let connector = OriginConnector(origin, resolver: resolver, loop: loop)
    do throws(UpstreamError) {
      connection = try await connector.connect(waiter, until: deadline)
    } catch {
      waiter.close()
      throw .unreachable(error)
    }
    do throws(RedisFailure) {
      try await enter(credential, database, until: deadline)
    } catch {
      close()
      throw error
    }
  }

  private func enter(
    _ credential: RedisCredential?, _ database: Int?, until deadline: MonotonicTime
  ) async throws(RedisFailure) {
    var commands: [RedisCommand] = []
    if let credential { commands.append(.authenticate(credential)) }
    // Also for the first database: a server that wants a password says so now, and not later.
    if let database { commands.append(RedisCommand("SELECT", "\(database)")) }
    for (command, reply) in zip(commands, try await perform(commands, until: deadline)) {
      guard case .refusal(let code) = reply else { continue }
      let isAboutUs = command.name == "AUTH" || code == "NOAUTH" || code == "WRONGPASS"
      throw isAboutUs ? .credentials(code: code) : .refused(command: command.name, code: code)
    }
  }

  /// Sends commands together and returns a reply for each. After a throw the connection cannot be used any more.
  func perform(_ commands: [RedisCommand], until deadline: MonotonicTime) async throws(RedisFailure) -> [RedisReply] {
    var output = ByteBuffer(capacity: commands.reduce(0) { $0 + $1.bytes.count })
    for command in commands { output.append(command.bytes) }
    var replies: [RedisReply] = []
    while replies.count < commands.count {
      // Both directions in turn: a server whose replies are not read stops reading.
      let isSent = try send(&output)
      while let reply = try next() { replies.append(reply) }
      if replies.count >= commands.count { break }
      if try receive() { continue }
      waiter.watch(connection.channel, connection.receiveInterest)
      if !isSent { waiter.watch(connection.channel, connection.sendInterest) }
      if await waiter.wait(until: deadline) == .timedOut { throw .timedOut }
    }
    guard replies.count == commands.count, output.isEmpty else { throw .malformed }
    return replies
  }

  private func send(_ output: inout ByteBuffer) throws(RedisFailure) -> Bool {
    while !output.isEmpty {
      switch output.withReadableBytes({ connection.send($0) }) {
      case .moved(let count): output.consume(count)
      case .wouldBlock: return false
      case .endOfStream, .failed: throw .closed
      }
    }
    return true
  }

  /// True if bytes arrived.
  private func receive() throws(RedisFailure) -> Bool {
    input.reserve(64 * 1024)
    switch input.receive(from: connection) {
    case .moved: return true
    case .wouldBlock: return false
    case .endOfStream, .failed: throw .closed
    }
  }

  private func next() throws(RedisFailure) -> RedisReply? {
    if input.isEmpty { return nil }
    switch input.withBytes({ RedisReplyReader.read($0) }) {
    case .reply(let reply, let count):
      input.consume(count)
      return reply
    case .needsMore: return nil
    case .invalid: throw .malformed
    }
  }

  func close() {
    connection.close()
    waiter.close()
  }
}
