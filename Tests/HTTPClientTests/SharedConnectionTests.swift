// Connections with HTTP/2 that exchanges share, to a server on the same loop.

import Bytes
import HTTP
import HTTP2
import TestSupport
import Testing

@testable import HTTPClient
@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct SharedConnectionTests {
  /// A server that answers each request with its path, except `/held`, and ends as it is told.
  private static func serve(_ stream: ByteStream, streams: Int) async {
    let session = CallerSession(SessionLimits(streams: streams))
    var input = ByteBuffer(capacity: 1024)
    var output = ByteBuffer(capacity: 1024)
    let waiter = Waiter(stream.channel.loop)
    defer { waiter.close() }
    while true {
      _ = session.write(to: &output, limit: 1 << 20)
      while !output.isEmpty {
        switch output.send(to: stream) {
        case .moved: break
        case .wouldBlock:
          waiter.watch(stream.channel, .write)
          guard await waiter.wait(until: .now + .seconds(60)) == .ready else { return }
        case .endOfStream, .failed: return
        }
      }
      input.reserve(4096)
      switch input.receive(from: stream) {
      case .moved:
        let goesOn = input.withBytes { session.receive($0, at: 1) }
        input.removeAll()
        session.takeChanges { request, changes in
          guard changes.contains(.began) else { return }
          var head = ByteBuffer(capacity: 64)
          request.takeHead(into: &head)
          let text = head.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
          let path = text.split(separator: " ")[1]
          switch path {
          case "/held": break
          case "/crumbs":
            // A head, then frames of one byte, as many as the window allows.
            output.append([0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88])
            for _ in 0..<crumbs { output.append([0, 0, 1, 0, 0, 0, 0, 0, 1, 0x78]) }
            output.append([0, 0, 0, 0, 1, 0, 0, 0, 1])
          case "/refused": session.refuse(request)
          case "/leave":
            session.refuseMore()
            fallthrough
          default:
            let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)".utf8)
            _ = answer.withUnsafeBytes { session.give($0, to: request) }
          }
        }
        if !goesOn { return }
      case .wouldBlock:
        waiter.watch(stream.channel, .read)
        guard await waiter.wait(until: .now + .seconds(60)) == .ready else { return }
      case .endOfStream, .failed: return
      }
    }
  }

  private static let crumbs = 250_000

  private static func withPool(
    streams: Int = 100, _ body: @escaping @Sendable (OriginPool, Waiter, Locked<Int>) async throws -> Void
  ) async throws {
    try await onLoop { loop in
      let accepted = Locked(0)
      let server = try LoopServer(on: loop) { stream, _ in
        accepted.withLock { $0 += 1 }
        await serve(stream, streams: streams)
      }
      let origin = Origin(try HTTPURL("http://127.0.0.1:\(server.port)/"), tls: nil, versions: .http2)
      let pool = OriginPool(origin, limits: PoolLimits(), resolver: Resolver(), loop: loop)
      let waiter = Waiter(loop)
      defer { waiter.close() }
      try await body(pool, waiter, accepted)
      pool.retire()
      withExtendedLifetime(server) {}
    }
  }

  /// The end of a request: the content of its response, or the fault.
  private static func exchange(_ path: String, on pool: OriginPool, _ waiter: Waiter) async -> String {
    let connection: UpstreamConnection
    do throws(UpstreamError) {
      connection =
        if let open = pool.lease() { open } else { try await pool.connect(waiter, until: .now + .seconds(60)) }
    } catch {
      return error.reason
    }
    let text = await get(path, on: connection, waiter)
    pool.giveBack(connection, text == nil ? .unusable : .reusable)
    return text ?? connection.streamFault.map { "\($0)" } ?? "nothing"
  }

  private static func get(_ path: String, on connection: UpstreamConnection, _ waiter: Waiter) async -> String? {
    let stream = connection.stream
    guard case .moved = Array("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n".utf8).withUnsafeBytes({ stream.send($0) })
    else { return nil }
    var input = ByteBuffer(capacity: 1024)
    while true {
      input.reserve(1024)
      switch input.receive(from: stream) {
      case .moved:
        let text = input.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        if text.hasSuffix("\r\n\r\n\(path)") { return path }
      case .wouldBlock:
        waiter.watch(stream.channel, .read)
        if await waiter.wait(until: .now + .seconds(60)) == .timedOut { return nil }
      case .endOfStream, .failed: return nil
      }
    }
  }

  @Test(arguments: [(100, 20, 1), (5, 20, 4)])
  func `requests at once share connections up to the peer's limit`(_ streams: Int, _ requests: Int, _ most: Int)
    async throws
  {
    try await Self.withPool(streams: streams) { pool, waiter, accepted in
      let loop = waiter.loop
      nonisolated(unsafe) let shared = pool
      let confined = Confined(shared, to: loop)
      let answers = await withTaskGroup(of: String.self) { group in
        for number in 0..<requests {
          group.addTask(executorPreference: loop) {
            let waiter = Waiter(loop)
            defer { waiter.close() }
            return await Self.exchange("/\(number)", on: confined.value, waiter)
          }
        }
        return await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(answers == Set((0..<requests).map { "/\($0)" }))
      #expect(accepted.withLock { $0 } <= most)
    }
  }

  @Test func `a held request stops no other, and a second connection is made when the first is full`() async throws {
    try await Self.withPool(streams: 1) { pool, waiter, accepted in
      let held = try await pool.connect(waiter, until: .now + .seconds(60))
      _ = Array("GET /held HTTP/1.1\r\nHost: h\r\n\r\n".utf8).withUnsafeBytes { held.stream.send($0) }
      #expect(await Self.exchange("/a", on: pool, waiter) == "/a")
      #expect(await Self.exchange("/b", on: pool, waiter) == "/b")
      #expect(accepted.withLock { $0 } == 2)
      pool.giveBack(held, .unusable)
      #expect(pool.idleCount == 2)
    }
  }

  @Test func `a connection that brings frames of one byte leaves turns to others`() async throws {
    try await Self.withPool { pool, waiter, accepted in
      let connection = try await pool.connect(waiter, until: .now + .seconds(60))
      let stream = connection.stream
      _ = Array("GET /crumbs HTTP/1.1\r\nHost: h\r\n\r\n".utf8).withUnsafeBytes { stream.send($0) }
      var input = ByteBuffer(capacity: 1 << 20)
      var (content, turns, hasEnded) = (0, 0, false)
      while !hasEnded {
        input.reserve(1 << 20)
        switch input.receive(from: stream) {
        case .moved:
          // Each time others of the loop had their turn.
          turns += 1
          input.withBytes { bytes in
            for index in bytes.indices where bytes[index] == 0x78 { content += 1 }
            hasEnded = bytes.count >= 5 && bytes[bytes.count - 5] == 0x30 && bytes[bytes.count - 1] == 0x0A
          }
          input.removeAll()
          await Task.yield()
        case .wouldBlock:
          waiter.watch(stream.channel, .read)
          if await waiter.wait(until: .now + .seconds(60)) == .timedOut { hasEnded = true }
        case .endOfStream, .failed: hasEnded = true
        }
      }
      #expect(content == Self.crumbs && turns > 60, "\(content) \(turns)")
      pool.giveBack(connection, .reusable)
    }
  }

  @Test func `a refused request was not processed, and its connection goes on`() async throws {
    try await Self.withPool { pool, waiter, accepted in
      #expect(await Self.exchange("/refused", on: pool, waiter) == "notProcessed")
      #expect(await Self.exchange("/a", on: pool, waiter) == "/a")
      #expect(accepted.withLock { $0 } == 1)
    }
  }

  @Test func `a connection whose peer leaves ends its exchanges, and gets no more`() async throws {
    try await Self.withPool { pool, waiter, accepted in
      #expect(await Self.exchange("/leave", on: pool, waiter) == "/leave")
      #expect(await Self.exchange("/a", on: pool, waiter) == "/a")
      #expect(accepted.withLock { $0 } == 2)
      #expect(pool.idleCount == 1)
      pool.closeIdle()
      #expect(pool.idleCount == 0)
    }
  }

  @Test func `waiting requests learn of a connection that cannot be made`() async throws {
    try await onLoop { loop in
      let origin = Origin(try HTTPURL("http://refused.test/"), tls: nil, versions: .http2)
      let pool = OriginPool(origin, limits: PoolLimits(), resolver: Resolver(lookUp: { _ in .success([]) }), loop: loop)
      nonisolated(unsafe) let shared = pool
      let confined = Confined(shared, to: loop)
      await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<5 {
          group.addTask(executorPreference: loop) {
            let waiter = Waiter(loop)
            defer { waiter.close() }
            do throws(UpstreamError) {
              _ = try await confined.value.connect(waiter, until: .now + .seconds(60))
              return false
            } catch {
              return true
            }
          }
        }
        for await failed in group { #expect(failed) }
      }
    }
  }
}
