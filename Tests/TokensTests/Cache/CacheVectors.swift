// Reads the cache vectors recorded from msal-python: Tests/Fixtures/msal/cache.

import Bytes
import FoundationEssentials
import HTTP
import Testing
import Tokens

/// One recorded sequence of cache operations.
struct CacheVector: Sendable, CustomTestStringConvertible {
  enum Operation: Sendable {
    case add(IssuedTokens)
    /// A reply whose tokens this proxy could not use.
    case foreign
    case search(CacheSection, scopes: String, CacheQuery, found: [String])
    case rotate(old: String?, new: String)
    case forget(home: String, environment: String, clientID: String)
  }

  struct Step: Sendable {
    var operation: Operation
    var now: UnixTime
    /// The whole document afterwards, as left by msal-python.
    var after: JSONValue
  }

  var name: String
  var initial: JSONValue
  var steps: [Step]
  var testDescription: String { Self.cases[name].map { "\($0): \(name)" } ?? name }

  /// The behaviours that a vector shows, by name.
  private static let cases = [
    "01-user-auth-code": "add-user-aad", "03-client-credentials": "add-app-only", "05-generic-oidc": "add-oidc",
    "06-adfs": "add-adfs", "02-multi-account-multi-tenant": "guest-account",
    "09-response-scope-wins": "response-scope-wins", "19-expires-forms": "expires-forms",
  ]

  static let folder = URL(filePath: #filePath).appending(path: "../../../Fixtures/msal/cache").standardized

  /// Every vector; a folder that cannot be read fails the test that asks.
  static func all() throws -> [CacheVector] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
    return try names.filter { $0 != "index.json" && $0.hasSuffix(".json") }.sorted().map { name in
      try CacheVector(name: String(name.dropLast(5)), Array(Data(contentsOf: folder.appending(path: name))))
    }
  }

  init(name: String, _ json: [UInt8]) throws {
    let root = try #require(JSONValue(json: json)?.members)
    self.name = name
    initial = root["initial_cache"].flatMap { $0 == .null ? nil : $0 } ?? .object([:])
    steps = try (root["steps"]?.elements ?? []).map { value in
      let step = try #require(value.members)
      let now = UnixTime(step["now"]?.seconds ?? 1_700_000_000)
      return Step(operation: try Self.operation(step, now: now), now: now, after: step["cache_after"] ?? .null)
    }
  }

  private static func operation(_ step: [String: JSONValue], now: UnixTime) throws -> Operation {
    switch step["op"]?.text {
    case "add": return try add(#require(step["event"]?.members), now: now)
    case "search":
      let query = step["query"]?.members ?? [:]
      let environment = try #require(query["environment"]?.text)
      return .search(
        try #require(step["credential_type"]?.text.flatMap(CacheSection.init(rawValue:))),
        scopes: (step["target"]?.elements ?? []).compactMap(\.text).joined(separator: " "),
        CacheQuery(
          environments: [environment], realm: query["realm"]?.text ?? "", clientID: query["client_id"]?.text ?? "",
          homeAccountID: query["home_account_id"]?.text, isolation: query["ext_cache_key"]?.text),
        found: step["raises"] == nil ? (step["result_secrets"]?.elements ?? []).compactMap(\.text) : [])
    case "update_rt":
      return .rotate(old: step["old_secret"]?.text, new: try #require(step["new_secret"]?.text))
    case "forget":
      let account = try #require(step["account"]?.members)
      return .forget(
        home: try #require(account["home_account_id"]?.text), environment: try #require(account["environment"]?.text),
        clientID: try #require(step["client_id"]?.text))
    case let other:
      throw UnknownOperation(name: other ?? "")
    }
  }

  private static func add(_ event: [String: JSONValue], now: UnixTime) throws -> Operation {
    let endpoint = try HTTPURL(try #require(event["token_endpoint"]?.text))
    let realm = String(endpoint.target.split(separator: "/").first ?? "")
    let reply: TokenReply
    do throws(TokenFailure) {
      // The event's scopes are the reply's already, if it had some.
      var response = event["response"]?.members ?? [:]
      response["scope"] = nil
      let body = Array(JSONValue.object(response).canonicalText().utf8)
      reply = try TokenReply(ProviderAnswer(status: 200, body: body), sent: .none, now: now)
    } catch {
      return .foreign
    }
    // Requests with parameters of their own are stored apart under a digest of them, which the caller knows.
    let path = event["data"]?.members?["fmi_path"]?.text
    let isolation = path == "SomePath/Credential" ? "d-ca30f-gauktobaui813qk__hizq_ixjxvufwwemg8" : nil
    return .add(
      IssuedTokens(
        reply, clientID: try #require(event["client_id"]?.text),
        environment: event["environment"]?.text ?? endpoint.host, realm: realm,
        authority: realm == "adfs" ? .federationServices : .standard,
        grantType: event["grant_type"]?.text ?? "client_credentials",
        requested: try ScopeSet((event["scope"]?.elements ?? []).compactMap(\.text)),
        usernameHint: event["data"]?.members?["username"]?.text ?? event["username"]?.text, isolation: isolation,
        isSignIn: event["skip_account_creation"] != .bool(true)))
  }

  private struct UnknownOperation: Error {
    var name: String
  }
}
