// Commands that get too little from the system, or whose files change under them.

import Configuration
import Identity
import Platform
import TestSupport
import Testing
import Tokens

@testable import bearer_proxy

@Suite struct CommandContextTests {
  private static func configuration(_ directory: TemporaryDirectory, cache: String) throws -> String {
    try directory.write(
      """
      listeners: [{address: "127.0.0.1:0"}]
      admin: {address: "127.0.0.1:9"}
      cache: \(cache)
      applications:
        desk: {authority: "https://login.microsoftonline.com/contoso.example", client_id: c}
      routes:
        - name: mail
          path: /mail/
          upstream: https://mail.example/
          application: desk
          token: {scopes: ["User.Read"]}
      """, to: "proxy.yaml")
  }

  /// Every command that needs an event loop.
  private static let commands: [@Sendable (_ file: String) -> Command] = [
    { .token(TokenCommand(configuration: $0, route: "mail", form: .text, reveal: false)) },
    { .login(LoginCommand(configuration: $0, target: .route("mail"))) },
    { .accounts(AccountsCommand(configuration: $0, form: .json)) },
    { .logout(LogoutCommand(configuration: $0, account: "alice", application: nil)) },
    { .status(StatusCommand(configuration: $0, form: .json, wait: nil)) },
    { .checkLive(LiveCheck(configuration: $0, route: nil, probe: nil, form: .json)) },
  ]

  @Test(arguments: commands.indices)
  func `without a descriptor for an event loop a command says what to do`(index: Int) async throws {
    let directory = try TemporaryDirectory()
    let file = try Self.configuration(directory, cache: "{file: cache.json}")
    var context = CommandContext(environment: [:])
    context.openLoop = { () throws(SystemError) in throw SystemError("epoll_create1", 24) }
    let answer = await Self.commands[index](file).answer(in: context)
    let expected = """
      bearer-proxy: error: the system gives no event loop: epoll_create1: Too many open files
      No file descriptor is left. Raise the limit (ulimit -n, or LimitNOFILE= of the service) and try again.

      """
    #expect(answer == CommandAnswer(text: expected, status: .failed))
  }

  @Test func `a cause other than descriptors has its own advice`() {
    let answer = CommandError.noEventLoop(SystemError("eventfd", 1)).answer
    #expect(answer.status == .failed)
    let first = "bearer-proxy: error: the system gives no event loop: eventfd: Operation not permitted\n"
    #expect(answer.text.hasPrefix(first))
    #expect(answer.text.contains("epoll and eventfd"))
  }

  @Test func `a certificate that changes after it was loaded keeps no command from opening the cache`() async throws {
    let directory = try TemporaryDirectory()
    let trust = try directory.write(textOfFile(StandingCertificate.authorityFile), to: "trust.pem")
    let file = try Self.configuration(
      directory, cache: "{redis: \"rediss://127.0.0.1:1/0\", tls: {ca_file: trust.pem}}")
    let warnings = Locked("")
    var context = CommandContext(environment: [:])
    context.writeProgress = { text in warnings.withLock { $0 += text } }
    let (_, cache) = try context.settingsAndCache(file)
    _ = try directory.write("no certificate\n", to: "trust.pem")
    let store = await context.open(cache, try context.network())
    // No server is there, which the store reports.
    #expect(store.blindness != nil)
    #expect(warnings.withLock { $0 } == "bearer-proxy: warning: rediss://127.0.0.1:1/0: Connection refused\n")
    // The next command meets the file as it is now, and names its place.
    let answer = await Command.accounts(AccountsCommand(configuration: file)).answer(in: context)
    #expect(answer.status == .usage)
    #expect(answer.text.contains("proxy.yaml:3:"))
    #expect(answer.text.contains("cache.tls.ca_file: \(trust) holds no usable certification authorities"))
  }
}
