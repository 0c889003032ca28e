// Engines that prove themselves to bearer-proxy by a certificate, and that verify its own.

import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct EngineMutualTLSTests {
  private let authority: CertificateAuthority
  private let api: DemandingAPI
  private let proxy: ProxyUnderTest

  init() async throws {
    authority = try await CertificateAuthority()
    api = try DemandingAPI()
    let listener = try await authority.issue("listener")
    proxy = try await ProxyUnderTest(
      """
      listeners:
        - address: 127.0.0.1:PORT
          hand_out: proxies
          tls: {\(listener.tls)}
          callers: {certificate: {ca_file: \(authority.file), subjects: ["URI:spiffe://contoso/engine"]}}
      applications:
        contoso: {authority: "\(api.issuer)", client_id: app, client_secret: "s3cret-of-the-proxy"}
      routes:
        - {name: orders, path: /orders/, hand_out: proxies, upstream: "\(api.upstream)/", application: contoso,
           token: {as: application, scopes: ["api://orders/.default"]}}

      """)
  }

  /// An engine with this certificate, which trusts this authority.
  private func engine(
    _ kind: RunningEngine.Kind, _ certificate: CertificateAuthority.Certificate, _ authority: CertificateAuthority
  ) async throws -> RunningEngine {
    let part = EnginePart(configuration: proxy.configuration) {
      $0.replacing(#/\/etc\/(nginx|caddy|envoy)\/proxy.pem/#) { _ in certificate.certificateFile }
        .replacing(#/\/etc\/(nginx|caddy|envoy)\/proxy.key/#) { _ in certificate.keyFile }
        .replacing(#/\/etc\/(nginx|caddy|envoy)\/bearer-proxy-ca.pem/#) { _ in authority.file }
    }
    return try await RunningEngine(kind, part)
  }

  /// HAProxy's scripts cannot show a certificate, and Traefik's double has no TLS.
  @Test(arguments: RunningEngine.Kind.allCases.filter { ![.haproxy, .traefik].contains($0) })
  func `an engine gets tokens by its certificate alone, and asks only us`(kind: RunningEngine.Kind) async throws {
    let stranger = try await CertificateAuthority("stranger")
    let own = try await authority.issue("engine", for: ["URI:spiffe://contoso/engine"])
    let good = try await engine(kind, own, authority)
    #expect(try await good.get("free").status == 200)
    if kind.sendsAgain { #expect(try await good.get("alpha").status == 200) }
    #expect(api.asked == (kind.sendsAgain ? ["", "alpha"] : [""]))
    let requests = api.requests

    let other = try await authority.issue("other", for: ["URI:spiffe://contoso/other"])
    #expect(try await engine(kind, other, authority).get("free").status == 403)
    // TLS itself ends these.
    let forged = try await stranger.issue("forged", for: ["URI:spiffe://contoso/engine"])
    #expect(try await engine(kind, forged, authority).get("free").status == kind.statusWithoutUs)
    #expect(try await engine(kind, own, stranger).get("free").status == kind.statusWithoutUs)
    #expect(api.requests == requests)
  }
}
