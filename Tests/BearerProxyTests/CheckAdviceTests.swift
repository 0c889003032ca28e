// Advice that can be followed: what it names is there, and the command does not refuse.

import Configuration
import HTTPClient
import Identity
import Platform
import Testing
import Tokens

@testable import bearer_proxy

@Suite struct `Check advice` {
  private static func settings(_ cache: String, _ listener: String = "", _ trust: String = "") throws -> Settings {
    try Settings.decode(
      yaml: Array(
        """
        listeners: [{address: "127.0.0.1:0"\(listener)}]
        cache: {\(cache)}
        applications: {contoso: {authority: "https://id.example/r", client_id: x\(trust)}}
        routes:
          - {name: me, path: /, upstream: "https://me.example/", application: contoso,
             token: {scopes: [a.b]}\(trust)}
        """.utf8), file: "p.yaml", environment: [:], readFile: { _, _ throws(UnreadableFile) in [] })
  }

  static let persons: [(cache: String, listener: String, advice: String)] = [
    ("file: c.json", "", "Sign in with: bearer-proxy login -c p.yaml --route me"),
    ("file: c.json", ", sign_in: true", "Sign in with: bearer-proxy login -c p.yaml --route me"),
    ("redis: \"redis://127.0.0.1\"", "", "Sign in with: bearer-proxy login -c p.yaml --route me"),
    (
      "memory: true", "",
      "Set 'cache: {file: PATH}' in p.yaml: tokens in memory end with each command. Then sign in with: bearer-proxy "
        + "login -c p.yaml --route me"
    ),
    (
      "memory: true", ", sign_in: true",
      "Tokens are kept in the memory of the running proxy: sign in there, in a browser that calls route me, or set "
        + "'cache: {file: PATH}' for 'bearer-proxy login'."
    ),
  ]

  @Test(arguments: persons)
  func `a person is sent to login only if login can keep what it brings`(
    cache: String, listener: String, advice: String
  ) throws {
    let settings = try Self.settings(cache, listener)
    let advisor = CheckAdvice(
      configuration: "p.yaml", route: settings.routes[0], application: settings.applications[0],
      signIns: SignInWay(settings))
    let required = InteractionRequired(
      reason: .noAccount, scopes: try ScopeSet(["a.b"]), authority: settings.applications[0].authority.value)
    #expect(advisor.advice(.interactionRequired(required)) == advice)
  }

  @Test func `authorities that lack the right one are named with their file, instead of asking for a file`() throws {
    let unknown = FetchError.tls(host: "h", reason: "r", cause: .unknownAuthority)
    func advices(_ trust: String) throws -> [String] {
      let settings = try Self.settings("file: c.json", "", trust)
      let advisor = CheckAdvice(
        configuration: "p.yaml", route: settings.routes[0], application: settings.applications[0])
      return [
        advisor.advice(.providerUnavailable(.unreached(unknown), retryAfter: 1)), advisor.advice(probe: unknown),
      ]
    }
    let without = try advices("")
    #expect(
      without[0].hasPrefix(
        "Name the authority that issued the provider's certificate in 'tls: {ca_file: …}' of application 'contoso'."))
    #expect(
      without[1].hasPrefix("Name the authority that issued the upstream's certificate in 'tls: {ca_file: …}' of the r"))
    let with = try advices(", tls: {ca_file: ca.pem}")
    #expect(
      with[0].hasPrefix(
        "The file ca.pem, which 'tls: {ca_file: …}' of application 'contoso' names, lacks the authority that issued "
          + "the provider's certificate: add that authority's certificate to the file, not the provider's own."))
    #expect(
      with[1].hasPrefix(
        "The file ca.pem, which 'tls: {ca_file: …}' of the route names, lacks the authority that issued the upstream's")
    )
  }
}
