// The base of tests of `login` and `logout`: the sample provider, a configuration with routes of people, and the
// people.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

/// The sample provider and its APIs, for proxies with the application `desk`.
struct LoginScene {
  let directory: TemporaryDirectory
  let settings: DemoSettings
  let services: DemoServices
  typealias Sample = DemoDirectory.Sample

  init() throws {
    directory = try TemporaryDirectory()
    var settings = DemoSettings(directory: directory.path)
    settings.behaviour.deviceInterval = 1
    self.settings = settings
    services = try DemoServices(settings)
  }

  /// A route `NAME` for the scope of an API, of an account or of the only one.
  func route(
    _ name: String, account: String? = nil, api: String = "api", scope: String = "api://orders/Orders.Read"
  ) -> String {
    let who = account.map { "account: \($0), " } ?? ""
    return """
        - {name: \(name), path: /\(name)/, upstream: "\(services.apiOrigin)/\(api)/", application: desk,
           token: {\(who)scopes: ["\(scope)"]}}

      """
  }

  /// A proxy with these routes; `cache` keeps the tokens, `application` are further keys of `desk`, and `applications`
  /// are others beside it.
  func proxy(
    _ routes: [String], cache: String = "cache.json", application: String = "", applications: String = ""
  ) async throws -> ProxyUnderTest {
    try await ProxyUnderTest(
      in: directory,
      """
      cache: {file: \(cache)}
      applications:
        desk: {authority: "\(services.issuer)", client_id: \(Sample.desk),
          tls: {ca_file: "\(settings.authorityPath)"}\(application)}
      \(applications)
      defaults: {tls: {ca_file: "\(settings.authorityPath)"}}
      routes:
      \(routes.joined())
      """)
  }

  func person(_ user: String = Sample.alice, declines: Bool = false, discards: Bool = false) -> SigningInPerson {
    SigningInPerson(user: user, trust: settings.authorityPath, declines: declines, discards: discards)
  }

  /// Asks the provider's test endpoint.
  func testing(_ path: String, _ body: String? = nil) async throws -> String {
    let answer = try await curl(
      ["--cacert", settings.authorityPath] + (body.map { ["-d", $0] } ?? [])
        + [services.providerOrigin + "/testing/" + path])
    try #require((200...299).contains(answer.status), "\(answer.body)")
    return answer.body
  }

  /// Runs a command with a proxy's configuration.
  func command(_ proxy: ProxyUnderTest, _ words: [String]) async throws -> CommandResult {
    try await run([try binary(), words[0], "-c", proxy.configuration] + words.dropFirst())
  }
}
