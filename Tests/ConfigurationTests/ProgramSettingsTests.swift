// A listener's `programs`.

import Bytes
import Routing
import Testing
import Tokens

@testable import Configuration

@Suite struct ProgramSettingsTests {
  private static func text(_ programs: String, _ listener: String = "address: 127.0.0.1:8081") -> String {
    """
    allow_readable_secrets: true
    listeners:
      - {address: 127.0.0.1:8080, callers: {bearer: {authority: "https://id.example", audiences: [proxy]}}}
      - {\(listener), programs: \(programs)}
    applications:
      entra: {authority: "https://login.microsoftonline.com/contoso.example", client_id: c, client_secret: s3cret}
      public: {authority: "https://id.example", client_id: c}
      issuer: {authority: "https://id.example", client_id: c, client_secret: s3cret}
    routes:
      - {name: graph, path: /g/, upstream: "https://a.example", application: entra, token: {scopes: [User.Read]}}
      - {name: own, path: /o/, upstream: "https://a.example", application: entra,
         token: {as: application, scopes: ["https://vault.example/.default"]}}
      - {name: onward, path: /c/, upstream: "https://a.example", application: issuer, token: {as: caller, scopes: [a]}}
      - {name: open, path: /p/, upstream: "https://a.example", token: none}

    """
  }

  private static let secret = "secret: 0123456789abcdef"

  @Test func `programs have a shape, a secret and tokens`() throws {
    let settings = try decoded(
      Self.text(
        """
        {kafka: {\(Self.secret), tokens: [{route: own, resources: [kafka]}]},
         reports: {shape: app_service, secret: fedcba9876543210, least_life: 20m, tokens: [
           {route: graph, resources: ["https://graph.microsoft.com"]},
           {application: entra, scopes: ["https://x.example/.default"], identities: [one, two]}]}}
        """))
    #expect(settings.listeners[0].programs.isEmpty)
    #expect(
      settings.listeners[1].programs == [
        ProgramSettings(
          name: "kafka", shape: .tokenEndpoint, secret: Secret("0123456789abcdef"), leastLife: .seconds(300),
          tokens: [.init(source: .route("own"), resources: ["kafka"], identities: [])]),
        ProgramSettings(
          name: "reports", shape: .appService, secret: Secret("fedcba9876543210"), leastLife: .seconds(1200),
          tokens: [
            .init(source: .route("graph"), resources: ["https://graph.microsoft.com"], identities: []),
            .init(
              source: .application("entra", try ScopeSet(["https://x.example/.default"])), resources: [],
              identities: ["one", "two"]),
          ]),
      ])
    let shown = settings.effectiveValues().first { $0.key == "listeners[1].programs.kafka.secret" }
    #expect(shown?.value == ConfiguredValue.hidden)
  }

  @Test(
    arguments: [
      ("{a: {tokens: [{route: own}]}}", "needs 'secret_file'"),
      ("{a: {secret: short, tokens: [{route: own}]}}", "the secret is at least 16 visible ASCII characters"),
      ("{a: {secret: '0123456 89abcdef0', tokens: [{route: own}]}}", "at least 16 visible ASCII characters"),
      ("{a: {\(secret)}}", "needs 'tokens'"), ("{a: {\(secret), tokens: []}}", "the program would get no token"),
      ("{}", "nothing would be served"),
      ("{a: {\(secret), tokens: [{}]}}", "needs 'route'"),
      ("{a: {\(secret), tokens: [{route: ovn}]}}", "there is no route 'ovn'"),
      ("{a: {\(secret), tokens: [{route: open}]}}", "route 'open' has no token"),
      ("{a: {\(secret), tokens: [{route: own, application: entra}]}}", "has both 'route' and 'application'"),
      ("{a: {\(secret), tokens: [{application: entry, scopes: [a]}]}}", "there is no application 'entry'"),
      ("{a: {\(secret), tokens: [{application: entra, scopes: [a]}]}}", "'<resource>/.default' only, not for 'a'"),
      ("{a: {\(secret), tokens: [{application: public, scopes: [a]}]}}", "application 'public' has no credential"),
      ("{a: {\(secret), tokens: [{route: own, identities: [x]}]}}", "is for shapes of managed identities"),
      ("{a: {\(secret), tokens: [{route: onward}]}}", "which says whose subject_token is accepted"),
      ("{a: {shape: app_service, \(secret), tokens: [{route: graph}]}}", "needs 'resources'"),
      ("{a: {shape: app_service, \(secret), tokens: [{route: onward, resources: [a]}]}}", "bring none"),
      ("{a: {shape: imds, tokens: [{route: own}]}}", "write 'callers: {anyone: true}'"),
      ("{a: {shape: vm, \(secret), tokens: [{route: own}]}}", "is one of token_endpoint, app_service, imds"),
      ("{a: {\(secret), least_life: 2h, tokens: [{route: own}]}}", "is between 1s and 1h"),
      (
        "{a: {\(secret), tokens: [{route: own}]}, b: {\(secret), tokens: [{route: own}]}}",
        "'a' has the same secret; give each program its own"
      ),
    ])
  func `mistakes are named`(programs: String, words: String) {
    let messages = messages(Self.text(programs))
    #expect(messages.count == 1 && messages[0].contains(words), "\(messages)")
  }

  @Test(
    arguments: [
      ("{a: {shape: imds, tokens: [{route: own}]}}", "address: 127.0.0.1:8081, callers: {anyone: true}", nil),
      ("{a: {shape: imds, tokens: [{route: own}]}}", "address: 169.254.169.254:80, callers: {anyone: true}", nil),
      ("{a: {shape: imds, tokens: [{route: own}]}}", "address: 'unix:/run/p.sock', callers: {anyone: true}", nil),
      (
        "{a: {shape: imds, tokens: [{route: own}]}}", "address: 0.0.0.0:80, callers: {anyone: true}",
        "others than the program would reach 0.0.0.0:80"
      ),
      (
        "{a: {shape: imds, tokens: [{route: own}]}}", "address: 127.0.0.1:8081, hosts: ['*'], callers: {anyone: true}",
        "pages in browsers would get tokens"
      ),
      (
        "{a: {shape: imds, \(secret), tokens: [{route: own}]}}", "address: 127.0.0.1:8081, callers: {anyone: true}",
        "programs show no secret with shape: imds"
      ),
      (
        "{a: {shape: imds, tokens: [{route: own}]}, b: {shape: imds, tokens: [{route: own}]}}",
        "address: 127.0.0.1:8081, callers: {anyone: true}", "a listener has one with shape: imds"
      ),
      (
        "{a: {\(secret), tokens: [{route: own}]}}", "address: 127.0.0.1:8081, sign_in: true",
        "a listener with programs serves nothing else"
      ),
      ("{a: {\(secret), tokens: [{route: own}]}}", "address: 0.0.0.0:8081", "say under callers who may call"),
      (
        "{a: {\(secret), tokens: [{route: onward}]}}",
        "address: 127.0.0.1:8081, callers: {bearer: {authority: 'https://id.example', audiences: [proxy]}}", nil
      ),
    ] as [(String, String, String?)])
  func `a listener for programs has rules of its own`(programs: String, listener: String, words: String?) {
    let messages = messages(Self.text(programs, listener))
    if let words {
      #expect(messages.count == 1 && messages[0].contains(words), "\(messages)")
    } else {
      #expect(messages.isEmpty)
    }
  }
}
