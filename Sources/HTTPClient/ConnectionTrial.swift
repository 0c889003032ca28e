// Owns a connection that is made to see whether it can be, stage by stage, and closed again. Connections for requests are the
// OriginPool's; both take the same steps.

public import Network

/// Connects to upstreams in order to measure it.
public struct ConnectionTrial: Sendable {
  /// What has to come about.
  public enum Stage: Sendable, Hashable {
    /// Addresses of the name.
    case name
    /// A TCP connection.
    case connection
    /// A TLS session with a certificate that is trusted.
    case tls
  }

  /// A stage that came about.
  public struct Passed: Sendable {
    /// Which.
    public var stage: Stage
    /// How long it took.
    public var time: TimeSpan
    /// What was found: addresses, the protocol.
    public var detail: String
  }

  /// What came of it.
  public struct Result: Sendable {
    /// The stages that came about, in their order.
    public var passed: [Passed] = []
    /// The one that did not; nil where all did.
    public var failure: (stage: Stage, error: UpstreamError, time: TimeSpan)?
  }

  private let loop: EventLoop
  private let resolver: Resolver

  /// Connections of a loop.
  public init(loop: EventLoop, resolver: Resolver) {
    self.loop = loop
    self.resolver = resolver
  }

  /// Connects to an origin.
  public func connect(to origin: Origin, within limit: TimeSpan) async -> Result {
    let (loop, resolver) = (loop, resolver)
    return await Task(executorPreference: loop) { () -> Result in
      let waiter = Waiter(loop)
      defer { waiter.close() }
      let pool = OriginPool(origin, limits: PoolLimits(maximumIdle: 0), resolver: resolver, loop: loop)
      return await Self.connect(pool, waiter, until: MonotonicTime.now + limit)
    }.value
  }

  private static func connect(_ pool: OriginPool, _ waiter: Waiter, until deadline: MonotonicTime) async -> Result {
    var result = Result()
    var stage = Stage.name
    var began = MonotonicTime.now
    func passed(_ detail: String, next: Stage) {
      let now = MonotonicTime.now
      result.passed.append(Passed(stage: stage, time: now - began, detail: detail))
      stage = next
      began = now
    }
    do throws(UpstreamError) {
      let addresses = try await pool.addresses(waiter, until: deadline)
      passed(addresses.prefix(4).map(\.host).joined(separator: ", "), next: .connection)
      let channel = try await pool.channel(waiter, until: deadline)
      let way = pool.origin.proxy.map { " through the proxy \($0.host) port \($0.port)" } ?? ""
      passed("port \(pool.origin.port)\(way)", next: .tls)
      let stream = try await pool.secured(channel, waiter, until: deadline)
      if let session = stream.tls { passed(session.description, next: .tls) }
      stream.close()
    } catch {
      result.failure = (stage, error, MonotonicTime.now - began)
    }
    return result
  }
}
