// Makes a connection as a test, stage by stage, and closes it again. It takes the same steps as a connection for
// requests.

package import Bytes
internal import HTTP
package import Platform

/// Connects to upstreams in order to measure it.
package struct ConnectionProbe: Sendable {
  /// A step of connecting.
  package enum Stage: Sendable, Hashable {
    /// The name has addresses.
    case name
    case connection
    /// There is a TLS session with a trusted certificate.
    case tls
  }

  /// A stage that was reached.
  package struct Passed: Sendable {
    package var stage: Stage
    package var time: TimeSpan
    /// The result: addresses, the protocol.
    package var detail: String
  }

  package struct Result: Sendable {
    /// In their order.
    package var passed: [Passed] = []
    /// The stage that failed; `nil` if none did.
    package var failure: (stage: Stage, error: UpstreamError, time: TimeSpan)?
  }

  private let loop: EventLoop
  private let resolver: Resolver

  package init(loop: EventLoop, resolver: Resolver) {
    self.loop = loop
    self.resolver = resolver
  }

  package func connect(to origin: Origin, within limit: TimeSpan) async -> Result {
    let (loop, resolver) = (loop, resolver)
    return await Task(executorPreference: loop) { () -> Result in
      let waiter = Waiter(loop)
      defer { waiter.close() }
      let connector = OriginConnector(origin, resolver: resolver, loop: loop)
      return await Self.connect(connector, waiter, until: MonotonicTime.now + limit)
    }.value
  }

  private static func connect(
    _ connector: OriginConnector, _ waiter: Waiter, until deadline: MonotonicTime
  ) async -> Result {
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
      let addresses = try await connector.addresses(waiter, until: deadline)
      passed(addresses.prefix(4).map(\.host).joined(separator: ", "), next: .connection)
      let channel = try await connector.channel(waiter, until: deadline)
      let way = connector.origin.proxy.map { " through the proxy \($0.host) port \($0.port)" } ?? ""
      passed("port \(connector.origin.port)\(way)", next: .tls)
      let stream = try await connector.secured(
        channel, waiter, until: deadline, offering: connector.origin.offer(isAlone: false))
      if let session = stream.tls { passed(session.description, next: .tls) }
      stream.close()
    } catch {
      result.failure = (stage, error, MonotonicTime.now - began)
    }
    return result
  }
}
