// Sign-in, renewal, rotation, a second scope set and a wrong secret at identity providers that we did not write:
// canaille, glewlwyd, a server made with Authlib, and oidc-provider-mock.

import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct PeerProviderTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// A provider and how its application is registered to authenticate.
  struct Registration: Sendable, CustomTestStringConvertible {
    var kind: PeerProvider.Kind
    var method = "client_secret_basic"
    var arguments: [String] = []
    /// True if a refresh token is refused for scopes that its sign-in was not for.
    var isStrict = true
    /// True if a wrong secret is noticed, and costs no refresh token. glewlwyd revokes one that comes with it.
    var forgivesSecret = true

    var testDescription: String { "\(kind) \(method) \(arguments.joined(separator: " "))" }

    static let all = [
      Registration(kind: .canaille),
      Registration(kind: .glewlwyd, isStrict: false, forgivesSecret: false),
      Registration(kind: .authlib), Registration(kind: .authlib, method: "client_secret_post"),
      Registration(
        kind: .authlib, method: "client_secret_post", arguments: ["--listed-auth-method", "nothing"]),
      Registration(kind: .mock, forgivesSecret: false),
    ]
  }

  /// A proxy with a route for each of two scope sets of one application.
  private func proxy(
    _ provider: PeerProvider, _ upstream: PythonPeer, more: String = ""
  ) async throws -> ProxyUnderTest {
    try directory.replace("secret", with: PeerProvider.secret)
    let routes = [("mail", "email"), ("calls", "phone")].map { name, scope in
      """
        - {name: \(name), path: /\(name)/, upstream: "http://127.0.0.1:\(upstream.port)/", application: desk,
           token: {scopes: [\(scope)]}}

      """
    }
    return try await ProxyUnderTest(
      in: directory,
      """
      cache: {file: cache.json}
      applications:
        desk: {authority: "\(provider.issuer)", client_id: \(PeerProvider.client), client_secret_file: secret\(more)}
      routes:
      \(routes.joined())
      """)
  }

  /// The results of calls on a route.
  private struct Calls {
    var tokens: Set<String> = []
    var refusals: [String] = []
  }

  /// Calls until so many different tokens have been seen; every answer on the way counts.
  private func call(_ proxy: ProxyUnderTest, _ routes: [String], until count: Int) async throws -> [String: Calls] {
    var calls = Dictionary(uniqueKeysWithValues: routes.map { ($0, Calls()) })
    _ = try await eventually(within: .seconds(90)) {
      for name in routes {
        let answer = try await proxy.get("/\(name)/seen")
        let token = answer.body.firstMatch(of: /Authorization: Bearer (\S+)/).map { String($0.1) }
        if answer.status == 200, let token {
          calls[name]?.tokens.insert(token)
        } else {
          calls[name]?.refusals.append("\(answer.status) \(answer.body)")
        }
      }
      return calls.values.allSatisfy { $0.tokens.count >= count || !$0.refusals.isEmpty }
    }
    return calls
  }

  private func signIn(_ proxy: ProxyUnderTest, _ provider: PeerProvider, route: String) async throws {
    let login = try await provider.signIn(proxy.configuration, route: route)
    try #require(login.status == 0, "\(login.errors)")
    try #require(
      try await eventually { try await proxy.get("/\(route)/seen").status == 200 }, "\(proxy.process.errors)")
  }

  @Test(arguments: Registration.all)
  func `people sign in, tokens are renewed, two scope sets are served side by side, and a wrong secret ends no sign-in`(
    _ registration: Registration
  ) async throws {
    let provider = try await PeerProvider(
      registration.kind, in: directory, method: registration.method, lifetime: 10, registration.arguments)
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let proxy = try await proxy(provider, upstream)
    #expect(try await proxy.get("/mail/seen").status == 401)
    try await signIn(proxy, provider, route: "mail")

    // Three tokens are two renewals, the second with the refresh token that the first one brought.
    for (name, calls) in try await call(proxy, ["mail"], until: 3) {
      #expect(calls.refusals == [] && calls.tokens.count == 3, "\(name)\n\(proxy.process.errors)")
    }
    if registration.isStrict {
      // The sign-in was not for this scope: another one is needed, and says what for.
      let answer = try await proxy.get("/calls/seen")
      #expect(answer.status == 401 && answer.body.contains("consent_required"), "\(answer.body)")
      #expect(answer["www-authenticate"]?.contains("phone") == true)
    }
    try await signIn(proxy, provider, route: "calls")
    for (name, calls) in try await call(proxy, ["mail", "calls"], until: 2) {
      #expect(calls.refusals == [] && calls.tokens.count >= 2, "\(name)\n\(proxy.process.errors)")
    }
    #expect(try await proxy.command(["accounts", "--json"]).status == 0)

    guard registration.forgivesSecret else { return }
    try directory.replace("secret", with: "not-the-secret-at-all")
    proxy.process.send(SIGHUP)
    // The held token serves while the wrong secret is refused. canaille's refresh tokens end with it, so the right one
    // comes soon.
    var statuses: Set<Int> = []
    func isSaid(_ message: String) async throws -> Bool {
      try await eventually {
        statuses.insert(try await proxy.get("/mail/seen").status)
        return proxy.process.errors.contains(message)
      }
    }
    #expect(try await isSaid("changed credential obtained no token, the one of the former credential still serves"))
    try directory.replace("secret", with: PeerProvider.secret)
    proxy.process.send(SIGHUP)
    #expect(try await isSaid("changed credential accepted, token obtained"), "\(proxy.process.errors)")
    #expect(statuses == [200])
    for (name, calls) in try await call(proxy, ["mail", "calls"], until: 2) {
      #expect(calls.refusals == [] && calls.tokens.count >= 2, "\(name)\n\(proxy.process.errors)")
    }
  }

  @Test func `the placement of the secret that an operator chose is the only one`() async throws {
    let provider = try await PeerProvider(.canaille, in: directory, method: "client_secret_post", lifetime: 3600)
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let proxy = try await proxy(provider, upstream, more: ", client_authentication: client_secret_post")
    try await signIn(proxy, provider, route: "mail")
    try proxy.reconfigure { $0.replacing("client_secret_post", with: "client_secret_basic") }
    let login = try await provider.signIn(proxy.configuration, route: "mail")
    #expect(login.status != 0 && login.errors.contains("invalid_client"), "\(login.errors)")
  }
}
