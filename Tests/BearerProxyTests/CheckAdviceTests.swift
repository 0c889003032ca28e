// Advice that can be followed: what it names is there, and the command does not refuse.

import Configuration
import Glibc
import HTTPClient
import Identity
@testable import Platform
import Proxy
import Telemetry
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
        """.utf8), file: "p.yaml", environment: [:], files: FileAccess(read: { _, _ throws(UnreadableFile) in [] }))
  }

  /// A route that needs a person, by reason and place of the tokens, and what is advised.
  static let persons: [(InteractionReason, cache: String, listener: String, advice: String)] = {
    let login = "bearer-proxy login -c p.yaml --route me"
    let file = "file: c.json"
    let pages = ", sign_in: true"
    return [
      (.noAccount, file, "", "Sign in with: \(login)"), (.noAccount, file, pages, "Sign in with: \(login)"),
      (.noAccount, "redis: \"redis://127.0.0.1\"", "", "Sign in with: \(login)"),
      (.consentRequired, file, "", "Sign in with: \(login)"),
      (
        .noAccount, "memory: true", "",
        "Set 'cache: {file: PATH}' in p.yaml and restart the proxy: tokens in memory end with each process. Then sign "
          + "in with: \(login)"
      ),
      (
        .noAccount, "memory: true", pages,
        "Tokens are kept in the memory of the running proxy: sign in there, in a browser that calls route me. For "
          + "'bearer-proxy login', set 'cache: {file: PATH}' and restart the proxy first."
      ),
      (
        .accountAmbiguous, file, "",
        "Name one of those that 'bearer-proxy accounts -c p.yaml' lists under the route's token, as 'account'."
      ),
      // `accounts` would list no one.
      (
        .accountAmbiguous, "memory: true", pages,
        "Write the user name of one of them under the route's token, as 'account'."
      ),
      // A sign-in would end with the same refusal.
      (
        .protectionPolicyRequired, file, "",
        "Use an account or a device that satisfies the policy: 'account' of the route's token names the account."
      ),
      (
        .additionalAction, file, "",
        "Have the person do first what the provider asks for in the detail. Then: Sign in with: \(login)"
      ),
    ]
  }()

  @Test(arguments: persons)
  func `a person is sent only if a sign-in is possible, and helps`(
    reason: InteractionReason, cache: String, listener: String, advice: String
  ) throws {
    let settings = try Self.settings(cache, listener)
    let advisor = CheckAdvice(
      commands: OperatorCommands(settings, cache: settings.cache, configuration: "p.yaml"), route: settings.routes[0],
      application: settings.applications[0])
    let required = InteractionRequired(
      reason: reason, scopes: try ScopeSet(["a.b"]), authority: settings.applications[0].authority.value)
    #expect(advisor.advice(AcquisitionError(.interaction(required))) == advice)
  }

  static let files: [(file: String, word: String)] = [
    ("p.yaml", "p.yaml"), ("/etc/bearer-proxy/p.yaml", "/etc/bearer-proxy/p.yaml"),
    ("my proxy.yaml", "'my proxy.yaml'"),
    ("$HOME/p.yaml", "'$HOME/p.yaml'"), ("it's.yaml", #"'it'\''s.yaml'"#), ("p;rm.yaml", "'p;rm.yaml'"),
  ]

  @Test(arguments: files) func `a command can be typed as it is printed`(file: String, word: String) {
    let commands = OperatorCommands(configuration: file)
    #expect(commands.login(route: "me") == "bearer-proxy login -c \(word) --route me")
    #expect(commands.liveCheck() == "bearer-proxy check --live -c \(word)" && commands.check.hasSuffix(" -c \(word)"))
    #expect(commands.advice(.accountAmbiguous, route: "me").contains("'bearer-proxy accounts -c \(word)'"))
  }

  @Test func `a process names its file by the whole path`() {
    let options = RunOptions(configuration: "p.yaml")
    #expect(options.configurationPath.hasPrefix("/") && options.configurationPath.hasSuffix("/p.yaml"))
  }

  static let cacheErrors: [(CacheStoreError, words: String)] = [
    (.file(.system(SystemError("open", EROFS))), "read-only for this process"),
    (.lock(SystemError("open", EROFS)), "ReadWritePaths="), (.lock(SystemError("open", ENOSPC)), "Free space"),
    (.file(.system(SystemError("open", EACCES))), "has to be able to read and write"),
  ]

  @Test(arguments: cacheErrors) func `a cache that cannot be written is told why`(error: CacheStoreError, words: String)
  {
    #expect(error.cure.words().contains(words))
  }

  @Test func `authorities that lack the right one are named with their file, instead of asking for a file`() throws {
    let unknown = FetchError.tls(host: "h", reason: "r", cause: .unknownAuthority)
    func advices(_ trust: String) throws -> [String] {
      let settings = try Self.settings("file: c.json", "", trust)
      let advisor = CheckAdvice(
        commands: OperatorCommands(configuration: "p.yaml"), route: settings.routes[0],
        application: settings.applications[0])
      return [advisor.advice(AcquisitionError(.unreached(unknown))), advisor.advice(probe: unknown)]
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
