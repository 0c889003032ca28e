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
      \(application(provider.issuer))
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
  let upstream: PythonPeer
  let proxy: ProxyUnderTest

  /// `top` comes before the routes, `route` behind the keys of the one; `listener` are further keys of the listener,
  /// each behind a comma, and `launcher` starts the proxy.
  init(top: String = "", listener: String = "", route: String = "", launcher: [String] = []) async throws {
    directory = try TemporaryDirectory()
    upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    proxy = try await ProxyUnderTest(
      in: directory, launcher: launcher,
      """
      \(top)
      listeners:
        - {address: "127.0.0.1:PORT"\(listener)}
      routes:
        - name: all
          path: /
          upstream: http://127.0.0.1:\(upstream.port)/
          token: none
      \(route)
      """)
  }
}

/// The same with a listener that speaks TLS.
struct SecureScene {
  let directory: TemporaryDirectory
  let authority: CertificateAuthority
  let upstream: PythonPeer
  let proxy: ProxyUnderTest

  /// `callers` are the listener's rules, which may trust the same authority; `key` is the kind of its key.
  init(_ top: String = "", key: String = "P-256", callers: (CertificateAuthority) throws -> String = { _ in "" })
    async throws
  {
    authority = try await CertificateAuthority()
    let certificate = try await authority.issue("listener", key: key)
    let scene = try await ScriptedScene(top: top, listener: ", tls: {\(certificate.tls)}\(try callers(authority))")
    (directory, upstream, proxy) = (scene.directory, scene.upstream, scene.proxy)
  }

  /// The answer to a GET through a curl that trusts the authority.
  func get(_ path: String = "/seen", _ arguments: [String] = []) async throws -> Answer {
    try await curl(["--cacert", authority.file] + arguments + ["https://localhost:\(proxy.port)\(path)"])
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

  /// Calls a path on one connection, or on a new one every few calls; how often, and what was answered otherwise than
  /// with the token that the upstream got.
  func call(
    _ proxy: ProxyUnderTest, _ path: String, perConnection: Int = .max,
    until isEnd: @escaping @Sendable (String) -> Bool
  ) async throws -> (answered: Int, failures: [String]) {
    var (answered, failures) = (0, [String]())
    var connection = try proxy.connect()
    while goesOn, failures.count < 4 {
      if answered % perConnection == perConnection - 1 { connection = try proxy.connect() }
      try await connection.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      let answer = try await connection.receive(until: isEnd)
      if answer.hasPrefix("HTTP/1.1 200 "), answer.contains(#/(authorization=|Authorization: )Bearer /#) {
        answered += 1
      } else {
        failures.append(String(answer.prefix(300)))
        connection = try proxy.connect()
      }
    }
    return (answered, failures)
  }
}
