// The scenery of the tests that look at the provider: Authlib, an upstream that shows what arrives, the proxy between.

import TestSupport

/// A provider, an upstream that shows what it receives, and a proxy with a route to it with a token and one without.
struct ProviderScene {
  let provider: OpenIDProvider
  let upstream: PythonPeer
  let proxy: ProxyUnderTest

  /// Starts the provider, lets `prepare` make it misbehave, and only then starts the proxy; without, waits until it is
  /// ready.
  init(_ arguments: [String] = [], prepare: ((OpenIDProvider) async throws -> Void)? = nil) async throws {
    provider = try await OpenIDProvider(arguments)
    upstream = try await PythonPeer("scripted_upstream.py")
    try await prepare?(provider)
    proxy = try await ProxyUnderTest(Self.configuration(provider.issuer, upstream))
    if prepare == nil { _ = try await eventually { try await proxy.admin("/readyz").status == 200 } }
  }

  static func configuration(_ issuer: String, _ upstream: PythonPeer) -> String {
    application(issuer) + "routes:\n" + route("orders", to: upstream.port)
      + "  - {name: open, path: /open/, upstream: \"http://127.0.0.1:\(upstream.port)/\", token: none}\n"
  }
}

/// The application `contoso` of the configuration.
func application(_ issuer: String, _ more: String = "", secret: String = OpenIDProvider.secret) -> String {
  """
  applications:
    contoso:
      authority: \(issuer)
      client_id: \(OpenIDProvider.client)
      client_secret: "\(secret)"
      \(more)

  """
}

/// A route `name` at `/name/` with a token of that application.
func route(_ name: String, to port: Int, path: String = "", scopes: String = "orders.read") -> String {
  """
    - name: \(name)
      path: /\(name)/
      upstream: http://127.0.0.1:\(port)/\(path)
      application: contoso
      token: {as: application, scopes: [\(scopes)]}

  """
}

/// The configuration for Ann of Tests/peers/openid_provider.py: she signs in to `desk`, and the route `hers` leads to
/// the realm's own resource server, which verifies each token.
func annsConfiguration(
  _ issuer: String, cache: String = "cache.json", client: String = "desk", trust: CertificateAuthority? = nil
) -> String {
  let tls = trust.map { ", tls: {ca_file: \"\($0.file)\"}" } ?? ""
  return """
    cache: {file: "\(cache)"}
    applications: {desk: {authority: "\(issuer)", client_id: \(client)\(tls)}}
    routes:
      - {name: hers, path: /hers/, upstream: "\(issuer)/api/", application: desk,
         token: {account: ann@id.example, scopes: [orders.read]}\(tls)}

    """
}

/// The result of `token` for an application with a credential, `more` being further keys of it.
func token(
  at issuer: String, client: String, scope: String, credential: String, _ more: String = "",
  in directory: TemporaryDirectory
) async throws -> CommandResult {
  let file = try directory.write(
    """
    listeners: [{address: "127.0.0.1:0"}]
    applications:
      desk: {authority: "\(issuer)", client_id: \(client), credential: {\(credential)}\(more)}
    routes:
      - {name: a, path: /, upstream: "https://127.0.0.1:9/", application: desk,
         token: {as: application, scopes: [\(scope)]}}
    """, to: "token.yaml")
  return try await run([binary(), "token", "-c", file, "--route", "a"])
}

extension Answer {
  /// The seconds of `Retry-After`; 0 if there is none.
  var retryAfter: Int { self["retry-after"].flatMap { Int($0) } ?? 0 }
}
