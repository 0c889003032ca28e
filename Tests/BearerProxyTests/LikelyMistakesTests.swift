// The most frequent mistakes, each with its message: the place, the cause and, if the cause does
// not say it, the cure.

import Configuration
import HTTPClient
import Platform
import TestSupport
import Testing

@testable import bearer_proxy

@Suite struct `Likely mistakes` {
  /// A right configuration, line for line as the places below count.
  static let right = """
    listeners: [{address: "127.0.0.1:0"}]
    cache: {file: cache.json}
    applications:
      app:
        authority: https://id.example/tenant
        client_id: orders-proxy
        client_secret: s3cret-of-the-app
    routes:
      - name: orders
        path: /orders/
        upstream: https://orders.example/
        application: app
        token: {as: application, scopes: [orders.read]}

    """

  /// The right configuration with a part replaced, in a file of a directory that has an empty file, too.
  private static func file(_ part: String, _ wrong: String, in directory: TemporaryDirectory) throws -> String {
    try #require(right.contains(part), "\(part)")
    try directory.write("", to: "empty")
    return try directory.write(right.replacing(part, with: wrong, maxReplacements: 1), to: "p.yaml")
  }

  @Test(arguments: mistakes)
  func `a mistake in the file is said with place, cause and cure`(mistake: Mistake) async throws {
    let directory = try TemporaryDirectory()
    let file = try Self.file(mistake.part, mistake.wrong, in: directory)
    let answer = await Command.check(configuration: file).answer(in: CommandContext(environment: [:]))
    #expect(answer.status == .usage)
    let said = answer.text.split(separator: "\n").map { $0.replacing(directory.path + "/", with: "") }
    #expect(said == mistake.messages.map { "p.yaml:\($0)" })
  }

  /// The answer of a wrong provider, and the finding and advice of `check --live`.
  struct WrongProvider: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// To the request for metadata; nil: the right ones.
    var metadata: Result<FetchResponse, FetchError>?
    /// To the request for a token.
    var token = FetchResponse(status: 500)
    let step: CheckStep.Name
    let cause: String
    let cure: String
  }

  private static func answer(_ status: Int, _ json: String) -> FetchResponse {
    FetchResponse(status: status, body: Array(json.utf8))
  }

  static let wrongProviders: [WrongProvider] = [
    WrongProvider(
      testDescription: "a path that is no issuer's", metadata: .success(answer(404, "not found")), step: .authority,
      cause: "metadata answered with status 404", cure: "Check 'authority' of application 'app'"),
    WrongProvider(
      testDescription: "a page instead of metadata", metadata: .success(answer(200, "<html>Welcome</html>")),
      step: .authority, cause: "metadata is not a JSON object", cure: "Check 'authority' of application 'app'"),
    WrongProvider(
      testDescription: "another issuer's metadata",
      metadata: .success(
        answer(200, #"{"issuer":"https://other.example","token_endpoint":"https://other.example/t"}"#)),
      step: .authority, cause: "metadata names the issuer https://other.example, which is not this authority's",
      cure: "Check 'authority' of application 'app'"),
    WrongProvider(
      testDescription: "a misspelt host",
      metadata: .failure(.unresolved(host: "id.example", reason: "Name or service not known")), step: .authority,
      cause: "id.example has no address: Name or service not known", cure: "spelt right"),
    WrongProvider(
      testDescription: "a private certification authority",
      metadata: .failure(
        .tls(host: "id.example", reason: "unable to get local issuer certificate", cause: .unknownAuthority)),
      step: .authority, cause: "unable to get local issuer certificate",
      cure: "'tls: {ca_file: …}' of application 'app'"),
    WrongProvider(
      testDescription: "the id of a secret instead of the secret", token: answer(401, #"{"error":"invalid_client"}"#),
      step: .token, cause: "invalid_client", cure: "the portal's list shows a secret's id, which is not the secret"),
    WrongProvider(
      testDescription: "a scope that is not there", token: answer(400, #"{"error":"invalid_scope"}"#), step: .token,
      cause: "invalid_scope", cure: "Check 'scopes' of the route"),
    WrongProvider(
      testDescription: "an application without a permission",
      token: answer(400, #"{"error":"unauthorized_client"}"#), step: .token, cause: "unauthorized_client",
      cure: "allow it there"),
  ]

  @Test(arguments: wrongProviders)
  func `a wrong provider is said with the step, cause and cure`(wrong: WrongProvider) async throws {
    let directory = try TemporaryDirectory()
    let file = try Self.file(
      "upstream: https://orders.example/", "upstream: http://127.0.0.1:1/\n    allow_plaintext: true", in: directory)
    var context = CommandContext(environment: [:])
    context.providers = { _ in
      { (request) async throws(FetchError) in
        guard case .get = request.method else { return wrong.token }
        let metadata = #"{"issuer":"https://id.example/tenant","token_endpoint":"https://id.example/tenant/t"}"#
        return try (wrong.metadata ?? .success(Self.answer(200, metadata))).get()
      }
    }
    let answer = await Command.checkLive(LiveCheck(configuration: file, form: .text)).answer(in: context)
    #expect(answer.status == .failed)
    let lines = answer.text.split(separator: "\n").map(String.init)
    let step = try #require(lines.firstIndex { $0.hasPrefix("  FAILED  \(wrong.step.rawValue) ") }, "\(answer.text)")
    #expect(lines[step].contains(wrong.cause), "\(lines[step])")
    #expect(lines[step + 1].contains("→") && lines[step + 1].contains(wrong.cure), "\(lines[step + 1])")
    // Nothing listens at the upstream's port either.
    let upstream = try #require(lines.firstIndex { $0.hasPrefix("  FAILED  upstream connection ") }, "\(answer.text)")
    #expect(lines[upstream].hasSuffix("Connection refused"))
    #expect(lines[upstream + 1].contains("Nothing listens at that address and port"))
  }

  @Test func `there are at least 49`() {
    #expect(Self.mistakes.count + Self.wrongProviders.count >= 49)
  }
}

/// A wrong text in place of a part of the right configuration, and what `check` says of it.
struct Mistake: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let part: String
  let wrong: String
  /// The content of the file `secret` beside the configuration.
  var secret = "s3cret-of-the-app"
  var environment: [String: String] = [:]
  /// Every line of what `check` says, without the file's name; the verdict aside.
  var messages: [String]

  /// Mistakes in the notation of `issueTable`: name, part and wrong text, if the part is there. `⏎` is a line end.
  static func table(_ text: String) -> [Mistake] {
    issueTable(text).map { row in
      let columns = row.fragment.split(separator: " | ").map { String($0).replacing("⏎", with: "\n") } + [""]
      return Mistake(testDescription: columns[0], part: columns[1], wrong: columns[2], messages: row.expected)
    }
  }
}
