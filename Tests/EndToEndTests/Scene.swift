// The scenery most tests share: an authority of certificates, nginx with TLS, Authlib as the provider, the proxy
// between.

import class Platform.Locked
import Testing
import TestSupport

/// Independent parties around one proxy.
struct Scene {
  let directory: TemporaryDirectory
  let authority: CertificateAuthority
  let nginx: NginxUpstream
  let provider: OpenIDProvider
  let proxy: ProxyUnderTest

  /// Starts everything; `routes` come behind the `orders` route of the main job, `top` before the applications.
  init(routes: String = "", top: String = "", providerArguments: [String] = []) async throws {
    directory = try TemporaryDirectory()
    authority = try await CertificateAuthority(in: directory)
    nginx = try await NginxUpstream(in: directory, certificate: authority.issue("upstream"))
    provider = try await OpenIDProvider(in: directory, providerArguments)
    proxy = try await ProxyUnderTest(
      in: directory,
      """
      \(top)
      applications:
        contoso:
          authority: \(provider.issuer)
          client_id: \(OpenIDProvider.client)
          client_secret: "\(OpenIDProvider.secret)"
      routes:
        - name: orders
          path: /orders/
          upstream: https://127.0.0.1:\(nginx.tlsPort)/echo/
          application: contoso
          token: {as: application, scopes: [orders.read]}
          tls: {ca_file: \(authority.file)}
        - name: open
          path: /open/
          upstream: http://127.0.0.1:\(nginx.port)/
          token: none
      \(routes)
      """)
    _ = try await eventually { try await proxy.admin("/readyz").status == 200 }
  }
}

/// A proxy in front of the upstream that misbehaves to order, with one route `all` at `/`.
struct ScriptedScene {
  let directory: TemporaryDirectory
  let upstream: ScriptedUpstream
  let proxy: ProxyUnderTest

  init(top: String = "", route: String = "") async throws {
    directory = try TemporaryDirectory()
    upstream = try await ScriptedUpstream(in: directory)
    proxy = try await ProxyUnderTest(
      in: directory,
      """
      \(top)
      routes:
        - name: all
          path: /
          upstream: http://127.0.0.1:\(upstream.port)/
          token: none
      \(route)
      """)
  }

  /// The value of one of the proxy's counters, summed over its labels that contain `part`.
  func counter(_ name: String, _ part: String = "") async throws -> Int {
    try await metricSum(proxy, name, part)
  }
}

/// The sum of a metric's series whose labels contain `part`.
func metricSum(_ proxy: ProxyUnderTest, _ name: String, _ part: String = "") async throws -> Int {
  try await proxy.admin("/metrics").body.split(separator: "\n").reduce(0) { sum, line in
    guard line.hasPrefix(name), line.contains(part), let value = line.split(separator: " ").last.flatMap({ Double($0) })
    else { return sum }
    return sum + Int(value)
  }
}

/// True until callers shall end.
final class Load: Sendable {
  private let isOn = Locked(true)
  var goesOn: Bool { isOn.withLock { $0 } }
  func end() { isOn.withLock { $0 = false } }
}
