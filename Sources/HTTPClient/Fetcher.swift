// Small whole exchanges with identity providers: one request, one answer in memory, one connection each. A token
// request may consume a code or rotate a refresh token, so it is never sent twice, which a dead pooled connection would
// demand: hence no pool here.

package import Bytes
package import HTTP
package import Platform

/// Fetches small documents on one loop.
public final class Fetcher: Sendable {
  private let loop: EventLoop
  private let resolver: Resolver

  /// Maximum bytes of an answer's body.
  public static let bodyLimit = 1024 * 1024

  /// A fetcher whose connections live on `loop`.
  package init(loop: EventLoop, resolver: Resolver) {
    self.loop = loop
    self.resolver = resolver
  }

  /// A closure for the Identity module: `tls` is the trust for https URLs (none: they are refused), `serverName` the
  /// name in the certificate if it is not the host, `timeout` bounds the whole exchange, `proxy` chooses the proxy of a
  /// URL.
  package func bound(
    tls: TLSContext?, serverName: String? = nil, timeout: TimeSpan = .seconds(10),
    versions: UpstreamProtocol = .http1, proxy: @escaping @Sendable (HTTPURL) -> ProxyAddress? = { _ in nil }
  ) -> Fetch {
    { (request) async throws(FetchError) in
      try await self.fetch(
        request, address: nil, tls: tls, serverName: serverName, timeout: timeout, proxy: proxy(request.url),
        versions: versions)
    }
  }

  /// The same over one address, whatever the URL's host: for services of this machine, such as unix sockets and
  /// metadata services. No proxy is on the way.
  package func bound(to address: SocketAddress, tls: TLSContext? = nil, timeout: TimeSpan) -> Fetch {
    { (request) async throws(FetchError) in
      try await self.fetch(request, address: address, tls: tls, serverName: nil, timeout: timeout)
    }
  }

  private func fetch(
    _ request: FetchRequest, address: SocketAddress?, tls: TLSContext?, serverName: String?, timeout: TimeSpan,
    proxy: ProxyAddress? = nil, versions: UpstreamProtocol = .http1
  ) async throws(FetchError) -> FetchResponse {
    let (loop, resolver) = (loop, resolver)
    let result = await Task(executorPreference: loop) { () async -> Result<FetchResponse, FetchError> in
      let exchange = FetchExchange(
        request, waiter: Waiter(loop), resolver: resolver, deadline: MonotonicTime.now + timeout)
      do throws(FetchError) {
        return .success(
          try await exchange.run(
            tls: tls, serverName: serverName, address: address, proxy: proxy, versions: versions))
      } catch {
        return .failure(error)
      }
    }.value
    return try result.get()
  }
}
