// The scenery of the tests that look at the provider: Authlib, an upstream that shows what arrives, the proxy between.

import TestSupport

/// A provider, an upstream that shows what it receives, and a proxy with a route to it with a token and one without.
struct ProviderScene {
  let directory: TemporaryDirectory
  let provider: OpenIDProvider
  let upstream: ScriptedUpstream
  let proxy: ProxyUnderTest

  /// Starts the provider, lets `prepare` make it misbehave, and only then starts the proxy; without, waits until it is
  /// ready.
  init(_ arguments: [String] = [], prepare: ((OpenIDProvider) async throws -> Void)? = nil) async throws {
    directory = try TemporaryDirectory()
    provider = try await OpenIDProvider(in: directory, arguments)
    upstream = try await ScriptedUpstream(in: directory)
    try await prepare?(provider)
    proxy = try await ProxyUnderTest(
      in: directory,
      application(provider.issuer) + "routes:\n" + route("orders", to: upstream.port)
        + "  - {name: open, path: /open/, upstream: \"http://127.0.0.1:\(upstream.port)/\", token: none}\n")
    if prepare == nil { _ = try await eventually { try await proxy.admin("/readyz").status == 200 } }
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

extension Answer {
  /// The seconds of `Retry-After`; 0 if there is none.
  var retryAfter: Int { self["retry-after"].flatMap { Int($0) } ?? 0 }
}
