// A whole proxy inside the test's process: one route without a token to an upstream on loopback.

import Bytes
import Glibc
import HTTP
import HTTPClient
import Identity
@testable import Platform
import Routing
import Telemetry
import TestSupport
import Tokens

@testable import Proxy

/// A proxy that serves on loopback, or on a unix socket.
struct ProxyFixture {
  let server: ProxyServer
  let service: Service
  let address: SocketAddress
  private let loops: [EventLoop]

  /// The port of its listener.
  var port: Int { Int(address.port) }

  /// Time limits that no slow machine meets.
  static let patience = ExchangeTimeouts(
    connect: .seconds(240), responseHead: .seconds(240), idle: .seconds(240), whole: nil)

  /// The token of a route that has one.
  struct TokenPart {
    var subscription: TokenSubscription
    var rules = RouteTokenRules()
    var broker: TokenBroker
    /// Takes the server, to hand it what the broker publishes.
    var attach: (ProxyServer) -> Void = { _ in }
    var log: @Sendable ([UInt8]) -> Void = { _ in }
    var signInLink: SignInLink = { _, _ in nil }
  }

  /// Starts a proxy whose route `/` leads to `http://HOST:UPSTREAM/`; beside a route with a token, `/open/` leads there
  /// without one.
  init(
    upstream: Int, host: String = "127.0.0.1", listener: SocketAddress = SocketAddress(.ipv4(0x7F00_0001, port: 0)),
    tls: TLSContext? = nil, loops count: Int = 1, connections: Int = 100, unmarked: Int = 1000,
    sendBuffer: Int32? = nil, methods: [String]? = nil, idle: TimeSpan = .seconds(240),
    timeouts: ExchangeTimeouts = patience,
    resolver: Resolver = Resolver(), tokens: TokenPart? = nil, log: @escaping @Sendable ([UInt8]) -> Void = { _ in }
  ) throws {
    let url = try HTTPURL("http://\(host):\(upstream)/")
    var plan = RoutePlan()
    // However long a busy machine takes between two requests, one connection serves both.
    var pool = PoolLimits(idleTimeout: .seconds(240))
    pool.freshness = .seconds(240)
    let origin = plan.index(of: Origin(url, tls: nil), limits: pool)
    plan.add(
      Route(
        index: 0, name: "all", host: nil, path: "/", methods: methods, upstream: url, originIndex: origin,
        preservesHost: false, bearerSlot: tokens.map { plan.slot(of: $0.subscription) },
        token: tokens?.rules ?? RouteTokenRules(), timeouts: timeouts))
    if tokens != nil {
      plan.add(
        Route(
          index: 1, name: "open", host: nil, path: "/open/", methods: nil, upstream: url, originIndex: origin,
          preservesHost: false, bearerSlot: nil, timeouts: timeouts))
    }
    var catalog = MetricsCatalog()
    let metrics = ServiceMetrics(&catalog, routes: plan.routes.map(\.name), version: "test")
    let now: @Sendable () -> WallTime = { WallTime(seconds: 0) }
    let said = Locked(LogDeduplicator())
    let write = tokens?.log ?? log
    let signInLink: SignInLink = if let tokens { tokens.signInLink } else { { _, _ in nil } }
    let log = Log(
      level: .warning, format: .text, now: now, deduplicator: { body in said.withLock { body(&$0) } }, write: write)
    let limits = ServiceLimits(
      head: HeadLimits(), bodyBytes: nil, connections: connections, unmarked: unmarked, callerRate: nil,
      requestHead: .seconds(240), idle: idle)
    let clock: @Sendable () -> UnixTime = { UnixTime.now }
    service = Service(
      ServiceProcess(
        broker: tokens?.broker ?? TokenBroker(TokenBroker.Surroundings(now: { UnixTime(0) })), resolver: resolver,
        log: log, signInRequirements: SignInRequirements(now: clock)),
      plan, limits: limits, metrics: metrics, registry: MetricsRegistry(catalog, writers: count),
      signInLink: signInLink)
    let sockets = try BoundSocket.bind(listener, count: count)
    if var sendBuffer {
      // Accepted sockets inherit it.
      for socket in sockets {
        setsockopt(socket.descriptor, SOL_SOCKET, SO_SNDBUF, &sendBuffer, socklen_t(MemoryLayout<Int32>.size))
      }
    }
    address = sockets[0].address
    loops = try (0..<count).map { try EventLoop(index: $0) }
    var listener = ProxyListener(ListenerPlace(sockets), names: nil, tls: tls)
    listener.context.handsOut = tokens?.rules.isHandedOut == true
    server = ProxyServer(service, loops: loops, listeners: [listener])
    tokens?.attach(server)
    server.start()
  }

  /// A connection of a caller who has sent `text`.
  func caller(sending text: String, patience: Int = 10) async throws -> RawConnection {
    let caller = try RawConnection(port: port, patience: patience)
    try await caller.send(text)
    return caller
  }

  /// Does something that no loop hears of before it is done.
  func whileLoopsAreBusy<Result>(_ body: () throws -> Result) throws -> Result {
    let gates = loops.map { _ in (began: Gate(), ends: Gate()) }
    defer { for gate in gates { gate.ends.open() } }
    for (loop, gate) in zip(loops, gates) {
      Task(executorPreference: loop) {
        gate.began.open()
        gate.ends.wait()
      }
    }
    for gate in gates { gate.began.wait() }
    return try body()
  }

  /// Lets each loop look at its sockets so many times: whatever had arrived before has been acted on.
  func takeTurns(_ count: Int) async {
    for _ in 0..<count {
      for loop in loops { await Task(executorPreference: loop) { await Task.yield() }.value }
    }
  }

  /// Lets the loops look at their sockets until that has brought `condition` about.
  func takeTurns(until condition: () -> Bool) async {
    while !condition() { await takeTurns(1) }
  }
}

extension ByteStream {
  /// Reads a request head of a test, for an upstream; empty if the connection ended.
  func requestHead() async -> String { await receiveText(through: "\r\n\r\n") }
}
