// The base of tests with the sample provider, its APIs and its people.

import Bytes
import DemoProvider
import TestSupport
import Testing

/// The sample provider and its APIs, which end with the last reference.
final class DemoScene: Sendable {
  typealias Sample = DemoDirectory.Sample
  let directory: TemporaryDirectory
  let settings: DemoSettings
  let services: DemoServices
  /// Trust in the certificates of provider and APIs, as a key of configurations.
  var tls: String { "tls: {ca_file: \"\(settings.authorityPath)\"}" }

  init(_ change: (inout DemoSettings) throws -> Void = { _ in }) throws {
    directory = try TemporaryDirectory()
    var settings = DemoSettings(directory: directory.path)
    settings.behaviour.deviceInterval = 1
    try change(&settings)
    self.settings = settings
    services = try DemoServices(settings)
  }

  deinit { Task { [services] in await services.stop() } }

  /// A route `NAME` for the scope of an API, of an account or of the only one.
  func route(
    _ name: String, account: String? = nil, api: String = "api", scope: String = "api://orders/Orders.Read",
    more: String = ""
  ) -> String {
    let who = account.map { "account: \($0), " } ?? ""
    return """
        - {name: \(name), path: /\(name)/, upstream: "\(services.apiOrigin)/\(api)/", application: desk,
           token: {\(who)scopes: ["\(scope)"]\(more)}}

      """
  }

  /// The keys of an application, with the sample's secret if it has one; `more` are further keys, each behind a comma.
  func application(_ client: String = Sample.desk, hasSecret: Bool = false, _ more: String = "") -> String {
    let secret = hasSecret ? ", client_secret_file: \"\(settings.secretPath)\"" : ""
    return "{authority: \"\(services.issuer)\", client_id: \(client)\(secret), \(tls)\(more)}"
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
        desk: \(self.application(Sample.desk, application))
      \(applications)
      defaults: {\(tls)}
      routes:
      \(routes.joined())
      """)
  }

  func person(_ user: String = Sample.alice, declines: Bool = false, discards: Bool = false) -> SigningInPerson {
    SigningInPerson(user: user, trust: settings.authorityPath, declines: declines, discards: discards)
  }

  /// Asks the provider's test endpoint.
  @discardableResult
  func testing(_ path: String, _ body: String? = nil) async throws -> String {
    let answer = try await curl(
      ["--cacert", settings.authorityPath] + (body.map { ["-d", $0] } ?? [])
        + [services.providerOrigin + "/testing/" + path])
    try #require((200...299).contains(answer.status), "\(answer.body)")
    return answer.body
  }

  /// Has access tokens live so long from now on. Who presents a refresh token that was replaced loses everything.
  func lifetime(_ seconds: Int) async throws {
    try await testing(
      "behaviour", #"{"access_token_lifetime": \#(seconds), "refuse_replaced": true, "device_interval": 1}"#)
  }

  /// The number of requests to an endpoint of the provider: `token`, `discovery`.
  func requests(to endpoint: String) async throws -> Int {
    members(try await testing("requests"))[endpoint]?.seconds.map { Int($0) } ?? 0
  }
}
