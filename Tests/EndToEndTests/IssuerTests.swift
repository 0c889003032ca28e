// Several issuers on one host, with one client id and one person under one subject: every program that may have signed
// the person in, in either order, at providers that end a sign-in when a refresh token is used twice.

import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(4)))
struct IssuerTests {
  /// The program that signs the person in.
  enum Writer: String, CaseIterable, Sendable {
    case login, msal
  }

  private let directory: TemporaryDirectory
  private let authority: CertificateAuthority
  private let provider: OpenIDProvider

  init() async throws {
    directory = try TemporaryDirectory()
    authority = try await CertificateAuthority(in: directory)
    // Both realms know Ann by one subject. Access tokens are over at once, so each call needs a refresh token.
    provider = try await OpenIDProvider(
      in: directory, https: authority.issue("provider"),
      [
        "--client", "desk:", "--person", "\(OpenIDProvider.person):\(OpenIDProvider.password):subject-1", "--realm",
        "alpha",
        "--realm", "beta", "--expires-in", "2", "--ca-file", authority.file,
      ])
  }

  /// A proxy with a route for each realm, and a cache of its own if it has a directory of its own.
  private func proxy(in place: TemporaryDirectory? = nil) async throws -> ProxyUnderTest {
    let place = place ?? directory
    let realms = ["alpha", "beta"]
    let applications = realms.map {
      "  \($0): {authority: \"\(provider.issuer(ofRealm: $0))\", client_id: desk, tls: {ca_file: "
        + "\"\(authority.file)\"}}\n"
    }
    let routes = realms.map { realm in
      """
        - {name: \(realm), path: /\(realm)/, upstream: "\(provider.issuer(ofRealm: realm))/api/", application: \(realm),
           token: {account: ann@id.example, scopes: [\(Self.scope(realm))]}, tls: {ca_file: "\(authority.file)"}}

      """
    }
    return try await ProxyUnderTest(
      in: place,
      "cache: {file: \"\(place.file("cache.json"))\"}\napplications:\n\(applications.joined())"
        + "routes:\n\(routes.joined())")
  }

  private static func scope(_ realm: String) -> String { realm == "alpha" ? "orders.read" : "orders.write" }

  private struct Told: Decodable {
    var token: String?
    var error: String?
    var posts: Int
    var accounts: [String]
  }

  private func msal(
    _ what: String, at realm: String, scope: String? = nil, in place: TemporaryDirectory? = nil
  ) async throws -> Told {
    let output = try await succeed(
      peer(
        "msal_issuer.py",
        [
          "--ca", authority.file, "--issuer", provider.issuer(ofRealm: realm), "--client", "desk", "--cache",
          (place ?? directory).file("cache.json"), "--scope", scope ?? Self.scope(realm), what,
        ]))
    return try JSONDecoder().decode(Told.self, from: Data(output.utf8))
  }

  private func signIn(
    _ proxy: ProxyUnderTest, _ realm: String, by writer: Writer, scope: String? = nil,
    in place: TemporaryDirectory? = nil
  ) async throws {
    switch writer {
    case .login:
      try await proxy.signIn(["--route", realm], OpenIDProvider.ann(trust: authority.file))
    case .msal:
      let told = try await msal("sign-in", at: realm, scope: scope, in: place)
      try #require(told.error == nil && told.token != nil, "\(told)")
    }
  }

  /// Waits until a realm's route is served with a token of that realm.
  private func isServed(_ proxy: ProxyUnderTest, _ realm: String) async throws -> Bool {
    var last = ""
    let isServed = try await eventually(within: .seconds(30)) {
      let answer = try await proxy.get("/\(realm)/whoami")
      last = "\(answer.status) \(answer.body)"
      return answer.status == 200 && answer.body.contains("\"iss\":\"\(provider.issuer(ofRealm: realm))\"")
    }
    if !isServed { Issue.record("\(realm): \(last)\n\(directory.read("cache.json"))") }
    return isServed
  }

  /// Refresh tokens that a realm was shown and had not issued, or had seen before.
  private func misused() async throws -> Int {
    var count = 0
    for realm in ["alpha", "beta"] {
      for kind in ["foreign", "reused"] { count += try await provider.requests(to: kind, realm: realm) }
    }
    return count
  }

  @Test(arguments: [(Writer.login, Writer.msal), (.msal, .login)])
  func `two issuers of one host serve one person side by side, in either order of sign-ins`(
    first: Writer, second: Writer
  ) async throws {
    for order in [["alpha", "beta"], ["beta", "alpha"]] {
      let place = try TemporaryDirectory()
      let proxy = try await proxy(in: place)
      try await signIn(proxy, order[0], by: first, in: place)
      #expect(try await isServed(proxy, order[0]))
      try await signIn(proxy, order[1], by: second, in: place)
      for realm in order + order { #expect(try await isServed(proxy, realm), "\(order) \(realm)") }
      // Another process finds the same in the file.
      for realm in order {
        let token = try await proxy.command(["token", "--route", realm])
        #expect(token.status == 0, "\(token.errors)")
      }
      let accounts = try await proxy.command(["accounts"])
      #expect(accounts.output.split(separator: "\n").count { $0 == "  ann@id.example" } == 2, "\(accounts.output)")
      #expect(!accounts.output.contains("tenants:") && !accounts.output.contains("(realms)"), "\(accounts.output)")
      #expect(try await misused() == 0)
    }
  }

  // The real msal, at the same file: it neither fails on an issuer's entries, nor changes them, nor takes them
  // elsewhere.
  @Test func `msal leaves alone what is filed for an issuer`() async throws {
    let proxy = try await proxy()
    try await signIn(proxy, "alpha", by: .login)
    let before = try entries()
    #expect(try await msal("accounts", at: "beta").accounts == [])
    #expect(try await msal("silent", at: "beta").posts == 0)
    #expect(try await msal("forced", at: "alpha").posts == 0)
    try await signIn(proxy, "beta", by: .msal, scope: Self.scope("alpha"))
    #expect(try await msal("silent", at: "beta", scope: Self.scope("alpha")).error == nil)
    #expect(try await msal("forced", at: "beta", scope: Self.scope("alpha")).token != nil)
    #expect(try await msal("sign-out", at: "beta").accounts == [])
    let after = try entries()
    for (key, entry) in before where !key.contains("-atext-") { #expect(after[key] == entry, "\(key)") }
    #expect(try await isServed(proxy, "alpha"))
    #expect(try await misused() == 0)
  }

  /// The cache's entries by key.
  private func entries() throws -> [String: [String: String?]] {
    try JSONDecoder().decode([String: [String: [String: String?]]].self, from: Data(directory.read("cache.json").utf8))
      .values.reduce(into: [:]) { $0.merge($1) { $1 } }
  }

  @Test func `whom msal signs in and out at an issuer is served and turned away`() async throws {
    let proxy = try await proxy()
    try await signIn(proxy, "alpha", by: .msal)
    #expect(try await isServed(proxy, "alpha"))
    // Each renews what the other left, and neither uses a token twice.
    for _ in 0..<3 {
      let told = try await msal("forced", at: "alpha")
      #expect(told.error == nil && told.posts == 1, "\(told)")
      #expect(try await isServed(proxy, "alpha"))
    }
    #expect(try await misused() == 0)
    #expect(try await msal("sign-out", at: "alpha").accounts == [])
    #expect(try await eventually(within: .seconds(20)) { try await proxy.get("/alpha/whoami").status == 401 })
  }
}
