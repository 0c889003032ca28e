// The rules under `callers`, with curl and openssl as callers and Authlib as the issuer of their
// tokens.

import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct CallerTests {
  /// The audience of Authlib's tokens.
  private static let audience = "https://orders.example"

  @Test func `a certificate of the right authority and subject lets callers in`() async throws {
    let scene = try await SecureScene {
      ", callers: {certificate: {ca_file: \($0.file), subjects: [\"URI:spiffe://contoso/app\", \"CN=by-name\"]}}"
    }
    let (authority, upstream) = (scene.authority, scene.upstream)
    let stranger = try await CertificateAuthority("stranger", in: scene.directory)
    let app = try await authority.issue("legacy-app", for: ["URI:spiffe://contoso/app"])
    let other = try await authority.issue("other-app", for: ["URI:spiffe://contoso/other"])
    let forged = try await stranger.issue("forged", for: ["URI:spiffe://contoso/app"])
    func status(_ certificate: CertificateAuthority.Certificate?) async throws -> Int {
      try await scene.get("/seen", certificate?.shown ?? []).status
    }
    #expect(try await status(app) == 200)
    #expect(try await status(try await authority.issue("by-name")) == 200)
    #expect(try await status(other) == 403)
    // TLS itself ends these: there is no request to answer.
    #expect(try await status(nil) == 0)
    #expect(try await status(forged) == 0)
    #expect(upstream.requests.count == 2)
  }

  @Test func `a token of the caller's own lets it in, and goes no further`() async throws {
    let (provider, stranger) = (try await OpenIDProvider(), try await OpenIDProvider())
    func token(of provider: OpenIDProvider) async throws -> String {
      let reply = try await curl([
        "-u", "\(OpenIDProvider.client):\(OpenIDProvider.secret)", "-d", "grant_type=client_credentials",
        "-d", "scope=orders.read", "\(provider.issuer)/token",
      ])
      let tail = try #require(reply.body.split(separator: "\"access_token\":").last)
      return String(tail.split(separator: "\"").first { $0.contains(".") } ?? "")
    }
    let own = try await token(of: provider)
    ProxyLedger.current?.add(secret: own)
    let scene = try await ScriptedScene(
      top: "log: {level: debug}",
      listener: ", callers: {bearer: {authority: \"\(provider.issuer)\", audiences: [\"\(Self.audience)\"]}}")
    let proxy = scene.proxy
    let without = try await proxy.get("/seen")
    #expect(without.status == 401 && without["www-authenticate"]?.hasPrefix("Bearer realm=\"bearer-proxy\"") == true)
    #expect(without["www-authenticate"]?.contains("error") == false)
    #expect(try await proxy.get("/seen", ["-H", "Authorization: Basic YTpi"]).status == 401)
    let bad = [
      ("its signature is not", own + "x"), ("its issuer ", try await token(of: stranger)), ("opaque", "opaque"),
    ]
    for (reason, token) in bad {
      let answer = try await proxy.get("/seen", ["-H", "Authorization: Bearer \(token)"])
      #expect(answer.status == 401)
      #expect(answer["www-authenticate"] == #"Bearer realm="bearer-proxy", error="invalid_token""#)
      #expect(!answer.body.contains(reason))
      #expect(
        try await eventually {
          proxy.everythingWritten.split(separator: "\n").contains {
            $0.contains("caller's token refused") && $0.contains(reason)
          }
        })
    }
    for _ in 0..<3 {
      let answer = try await proxy.get("/seen", ["-H", "Authorization: Bearer \(own)"])
      #expect(answer.status == 200)
      #expect(!answer.body.lowercased().contains("authorization"))
    }
    #expect(scene.upstream.requests.count == 3)
  }

  @Test func `pages of a site that may call are let in, and browsers are told so`() async throws {
    let scene = try await ScriptedScene(listener: ", callers: {origins: [\"https://app.example\"]}")
    let (proxy, upstream) = (scene.proxy, scene.upstream)
    let preflight = try await proxy.get(
      "/seen",
      [
        "-X", "OPTIONS", "-H", "Origin: https://app.example", "-H", "Sec-Fetch-Site: cross-site",
        "-H", "Access-Control-Request-Method: PUT", "-H", "Access-Control-Request-Headers: x-a, x-b",
      ])
    #expect(preflight.status == 204)
    #expect(preflight["access-control-allow-origin"] == "https://app.example")
    #expect(preflight["access-control-allow-methods"] == "PUT")
    #expect(preflight["access-control-allow-headers"] == "x-a, x-b")
    #expect(upstream.requests.isEmpty)
    let call = try await proxy.get("/seen", ["-H", "Origin: https://app.example", "-H", "Sec-Fetch-Site: cross-site"])
    #expect(call.status == 200 && call["access-control-allow-origin"] == "https://app.example")
    let foreign = try await proxy.get(
      "/seen", ["-H", "Origin: https://evil.example", "-H", "Sec-Fetch-Site: cross-site"])
    #expect(foreign.status == 403 && foreign["access-control-allow-origin"] == nil)
    #expect(upstream.requests.count == 1)
  }
}
