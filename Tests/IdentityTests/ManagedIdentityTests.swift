// Managed identities: which service of the machine is meant, what is sent to it, what its answers mean, when it is
// asked again, and that its tokens are kept in memory alone.

import Bytes
import FoundationEssentials
import HTTP
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5)))
struct ManagedIdentityTests {
  private static let endpoint = "http://127.0.0.1:4001/msi/token"
  private static let pin = "00112233445566778899AABBCCDDEEFF00112233"

  /// Variables, if Arc's agent is there, the chosen source; and the identity, endpoint and method that are found.
  struct Machine: Sendable {
    var variables: [String: String] = [:]
    var hasAgent = false
    var chosen: ManagedIdentitySource?
    let source: ManagedIdentitySource
    let url: String
    var evidence: [String] = []
  }

  private static let imds = "http://169.254.169.254/metadata/identity/oauth2/token"
  private static let arc = "http://127.0.0.1:40342/metadata/identity/oauth2/token"
  private static let fabric = [
    "IDENTITY_ENDPOINT": "https://10.0.0.4:2377/token", "IDENTITY_HEADER": "h", "IDENTITY_SERVER_THUMBPRINT": pin,
  ]
  private static func fabric(pin: String) -> [String: String] {
    fabric.merging(["IDENTITY_SERVER_THUMBPRINT": pin]) { $1 }
  }

  static let machines: [Machine] = [
    Machine(source: .imds, url: imds),
    Machine(variables: ["MSI_SECRET": "s", "IDENTITY_HEADER": "h", "IMDS_ENDPOINT": "x"], source: .imds, url: imds),
    Machine(variables: ["IDENTITY_ENDPOINT": endpoint], source: .imds, url: imds),
    Machine(variables: ["MSI_ENDPOINT": ""], source: .imds, url: imds),
    Machine(
      variables: ["AZURE_POD_IDENTITY_AUTHORITY_HOST": "http://127.0.0.1:80/"], source: .imds,
      url: "http://127.0.0.1/metadata/identity/oauth2/token", evidence: ["AZURE_POD_IDENTITY_AUTHORITY_HOST"]),
    Machine(
      variables: ["IDENTITY_ENDPOINT": endpoint, "IDENTITY_HEADER": "h"], source: .appService, url: endpoint,
      evidence: ["IDENTITY_ENDPOINT", "IDENTITY_HEADER"]),
    // App Service sets all four; the newer pair comes first.
    Machine(
      variables: [
        "IDENTITY_ENDPOINT": endpoint, "IDENTITY_HEADER": "h", "MSI_ENDPOINT": "http://x/", "MSI_SECRET": "s",
        "IMDS_ENDPOINT": "http://y/",
      ], hasAgent: true, source: .appService, url: endpoint, evidence: ["IDENTITY_ENDPOINT", "IDENTITY_HEADER"]),
    Machine(
      variables: fabric, source: .serviceFabric, url: "https://10.0.0.4:2377/token",
      evidence: ["IDENTITY_ENDPOINT", "IDENTITY_HEADER", "IDENTITY_SERVER_THUMBPRINT"]),
    Machine(
      variables: ["MSI_ENDPOINT": endpoint, "MSI_SECRET": "s"], hasAgent: true, source: .azureML, url: endpoint,
      evidence: ["MSI_ENDPOINT", "MSI_SECRET"]),
    Machine(
      variables: ["MSI_ENDPOINT": endpoint], hasAgent: true, source: .cloudShell, url: endpoint,
      evidence: ["MSI_ENDPOINT"]),
    Machine(
      variables: ["IDENTITY_ENDPOINT": endpoint, "IMDS_ENDPOINT": "http://y/"], source: .arc, url: endpoint,
      evidence: ["IDENTITY_ENDPOINT", "IMDS_ENDPOINT"]),
    Machine(hasAgent: true, source: .arc, url: arc, evidence: ["/opt/azcmagent/bin/himds"]),
    // The configuration overrules what was left behind.
    Machine(variables: ["MSI_ENDPOINT": endpoint], hasAgent: true, chosen: .imds, source: .imds, url: imds),
    Machine(chosen: .arc, source: .arc, url: arc),
  ]

  @Test(arguments: machines)
  func `the first that matches is the source, unless the configuration says another`(machine: Machine) throws {
    let found = try ManagedIdentityDetection(
      machine.chosen, environment: machine.variables, hasArcAgent: machine.hasAgent)
    #expect(found.host.source == machine.source)
    #expect(found.host.endpoint.description == machine.url)
    #expect(found.evidence == machine.evidence)
  }

  static let mistakes: [([String: String], ManagedIdentitySource?, ManagedIdentityMistake)] = [
    ([:], .appService, .variableMissing(.appService, "IDENTITY_ENDPOINT")),
    (["IDENTITY_ENDPOINT": endpoint], .appService, .variableMissing(.appService, "IDENTITY_HEADER")),
    (
      ["IDENTITY_ENDPOINT": endpoint, "IDENTITY_HEADER": "a\r\nb"], nil,
      .variableMissing(.appService, "IDENTITY_HEADER")
    ),
    ([:], .azureML, .variableMissing(.azureML, "MSI_ENDPOINT")),
    ([:], .cloudShell, .variableMissing(.cloudShell, "MSI_ENDPOINT")),
    (["MSI_ENDPOINT": "localhost:80"], nil, .url(variable: "MSI_ENDPOINT")),
    (["AZURE_POD_IDENTITY_AUTHORITY_HOST": "x"], nil, .url(variable: "AZURE_POD_IDENTITY_AUTHORITY_HOST")),
    (fabric.merging(["IDENTITY_ENDPOINT": endpoint]) { $1 }, nil, .plaintext(variable: "IDENTITY_ENDPOINT")),
    (fabric(pin: String(pin.dropLast())), nil, .thumbprint(variable: "IDENTITY_SERVER_THUMBPRINT")),
    (fabric(pin: pin.dropLast() + "G"), nil, .thumbprint(variable: "IDENTITY_SERVER_THUMBPRINT")),
  ]

  @Test(arguments: mistakes)
  func `a source's missing variable is named`(
    variables: [String: String], chosen: ManagedIdentitySource?, expected: ManagedIdentityMistake
  ) {
    #expect(throws: expected) {
      _ = try ManagedIdentityDetection(chosen, environment: variables, hasArcAgent: false)
    }
  }

  static func host(_ source: ManagedIdentitySource) -> ManagedIdentityHost {
    do {
      let url = try HTTPURL("http://h.example/token?x=1")
      switch source {
      case .imds: return .imds(url)
      case .appService: return .appService(url, header: Secret("the-header"))
      case .azureML: return .azureML(url, secret: Secret("the-secret"), defaultID: "standard")
      case .cloudShell: return .cloudShell(url)
      case .arc: return .arc(url)
      case .serviceFabric:
        return .serviceFabric(url, secret: Secret("the-secret"), thumbprint: [UInt8](repeating: 1, count: 20))
      }
    } catch {
      preconditionFailure("\(error)")
    }
  }

  static let identities: [(ManagedIdentitySource, ManagedIdentityID, ManagedIdentityMistake?)] =
    ManagedIdentitySource.allCases.flatMap { source in
      [
        (source, .systemAssigned, nil),
        (source, .clientID("c"), [.cloudShell, .serviceFabric].contains(source) ? .systemAssignedOnly(source) : nil),
        (source, .objectID("o"), refusal(source)), (source, .resourceID("r"), refusal(source)),
      ] as [(ManagedIdentitySource, ManagedIdentityID, ManagedIdentityMistake?)]
    }

  private static func refusal(_ source: ManagedIdentitySource) -> ManagedIdentityMistake? {
    switch source {
    case .imds, .appService, .arc: nil
    case .azureML: .clientIDOnly
    case .cloudShell, .serviceFabric: .systemAssignedOnly(source)
    }
  }

  @Test(arguments: identities)
  func `a source has the identities that it has`(
    source: ManagedIdentitySource, id: ManagedIdentityID, expected: ManagedIdentityMistake?
  ) {
    do throws(ManagedIdentityMistake) {
      _ = try ManagedIdentity(id, at: Self.host(source))
      #expect(expected == nil)
    } catch {
      #expect(error == expected)
    }
  }

  private static let (metadata, secret) = ("metadata: true", "secret: the-secret")
  private static let resource = "resource=https%3A%2F%2Fo.example%2F"

  static let requests: [(ManagedIdentitySource, ManagedIdentityID, String, [String])] = [
    (.imds, .systemAssigned, "?x=1&api-version=2018-02-01&\(resource)", [metadata]),
    (.imds, .clientID("c&d"), "?x=1&api-version=2018-02-01&\(resource)&client_id=c%26d", [metadata]),
    (.imds, .objectID("o"), "?x=1&api-version=2018-02-01&\(resource)&object_id=o", [metadata]),
    (.imds, .resourceID("/s/r"), "?x=1&api-version=2018-02-01&\(resource)&msi_res_id=%2Fs%2Fr", [metadata]),
    (
      .appService, .resourceID("/s/r"), "?x=1&api-version=2019-08-01&\(resource)&mi_res_id=%2Fs%2Fr",
      ["x-identity-header: the-header", metadata]
    ),
    (.azureML, .systemAssigned, "?x=1&api-version=2017-09-01&\(resource)&clientid=standard", [secret, metadata]),
    (.azureML, .clientID("c"), "?x=1&api-version=2017-09-01&\(resource)&clientid=c", [secret, metadata]),
    (.cloudShell, .systemAssigned, "?x=1", [metadata]),
    (.arc, .resourceID("r"), "?x=1&api-version=2020-06-01&\(resource)&msi_res_id=r", [metadata]),
    (.serviceFabric, .systemAssigned, "?x=1&api-version=2019-07-01-preview&\(resource)", [secret]),
  ]

  @Test(arguments: requests)
  func `each source is asked in its own way`(
    source: ManagedIdentitySource, id: ManagedIdentityID, query: String, fields: [String]
  ) throws {
    let request = ManagedIdentityRequest(try ManagedIdentity(id, at: Self.host(source)), resource: "https://o.example/")
    #expect(request.url.description == "http://h.example/token" + query)
    #expect(request.fields.map { "\($0.name): \($0.value)" } == fields + ["accept: application/json"])
    #expect(request.form.map { String(decoding: $0, as: UTF8.self) } == (source == .cloudShell ? Self.resource : nil))
  }

  static let resources: [(String, String?)] = [
    ("https://o.example/.default", "https://o.example"), ("https://o.example//.default", "https://o.example/"),
    ("api://x/.default", "api://x"), ("https://o.example/", "https://o.example/"), ("a b", nil), ("", nil),
  ]

  @Test(arguments: resources)
  func `the resource is the only scope without its default`(scopes: String, resource: String?) throws {
    #expect(try ScopeSet(parameter: scopes).resource == resource)
  }

  /// At 1,700,000,000 s, which is 2023-11-14T22:13:20Z: an answer and the life of its token, half of it if it is
  /// renewed then, or why there is none.
  static let lives: [(String, Int64, Int64?)] = [
    (#""expires_in": "3599""#, 3599, nil), (#""expires_in": 7200"#, 7200, 3600),
    (#""expires_in": "86399", "expires_on": "1700003600""#, 3600, nil), (#""expires_on": 1700086400"#, 86_400, 43_200),
    (#""expires_on": "3600""#, 3600, nil), (#""expires_on": "978307199""#, 978_307_199, 489_153_599),
    (#""expires_on": "2023-11-14 23:13:20""#, 3600, nil), (#""expires_on": "2023-11-14T23:13:20Z""#, 3600, nil),
    (#""expires_on": "2023-11-14T23:13:20.1234567+00:00""#, 3600, nil),
    (#""expires_on": "11/14/2023 23:13:20""#, 3600, nil),
    (#""expires_on": "11/14/2023 11:13:20 PM +00:00""#, 3600, nil),
    (#""expires_on": "11/15/2023 12:13:20 AM""#, 7200, 3600),
    (#""expires_on": "1699999999", "expires_in": "60""#, 60, nil),
  ]

  @Test(arguments: lives)
  func `lifetimes and dates are read in all their shapes`(member: String, life: Int64, refresh: Int64?) throws {
    let reply = try ManagedIdentityReply(
      ProviderAnswer(status: 200, body: Array(#"{"access_token": "t", \#(member)}"#.utf8)), sent: .none,
      now: ManualClock.start)
    #expect(reply.expiresIn == life && reply.refreshIn == refresh && reply.accessToken == Secret("t"))
  }

  static let failures: [(Int, String, TokenFailure.Cause)] = [
    (
      400, #"{"error": "invalid_request", "error_description": "Identity not found"}"#,
      .refused(TokenErrorReply(error: "invalid_request", description: "Identity not found"))
    ),
    (
      400, #"{"statusCode": 400, "message": "No identity", "correlationId": "c-1"}"#,
      .refused(TokenErrorReply(error: "status 400", description: "No identity", correlationID: "c-1"))
    ),
    (
      403, #"{"error": {"code": "SecretHeaderNotFound", "message": "Secret is not found"}}"#,
      .refused(TokenErrorReply(error: "SecretHeaderNotFound", description: "Secret is not found"))
    ),
    (401, "{}", .refused(TokenErrorReply(error: "status 401"))),
    (200, #"{"error": "x"}"#, .refused(TokenErrorReply(error: "x"))),
    (403, "<html>", .refused(plain(403))), (200, "<html>", .unintelligible),
    (500, #"{"message": "x"}"#, .unintelligible), (410, "", .unintelligible), (404, "", .unintelligible),
    (429, #"{"error": "too_many"}"#, .unintelligible), (200, #"{"access_token": "t"}"#, .lifetime),
    (200, #"{"access_token": "t", "expires_on": "soon"}"#, .lifetime),
    (200, #"{"access_token": "t", "expires_on": "1600000000"}"#, .lifetime),
    (200, #"{"access_token": "t u", "expires_in": 60}"#, .unusableToken),
    (200, #"{"access_token": "t", "expires_in": 60, "token_type": "pop"}"#, .tokenType),
  ]

  @Test(arguments: failures)
  func `errors are read in all their shapes`(status: Int, body: String, cause: TokenFailure.Cause) {
    let errorClass: TokenErrorClass = if case .refused = cause { .configuration } else { .transient }
    do throws(TokenFailure) {
      _ = try ManagedIdentityReply(
        ProviderAnswer(status: status, retryAfter: "7", body: Array(body.utf8)), sent: .none, now: ManualClock.start)
      Issue.record("a token")
    } catch {
      #expect(error.cause == cause && error.errorClass == errorClass)
      #expect(error.status == status && error.retryAfter == 7)
    }
  }

  private static func plain(_ status: Int) -> TokenErrorReply {
    var reply = TokenErrorReply(
      error: "status \(status)", description: "an answer without a content type without an OAuth error")
    reply.isWithoutCode = true
    return reply
  }

  static let pauses: [(ManagedIdentitySource, Int, Int64?, [Int64])] = [
    (.imds, 410, nil, []), (.imds, 404, nil, [1, 2, 4]), (.imds, 429, nil, [1, 2, 4]), (.imds, 429, 3, []),
    (.imds, 502, nil, [1, 2, 4]), (.imds, 400, nil, []), (.imds, 200, nil, []), (.appService, 404, nil, [1, 1, 1]),
    (.appService, 503, nil, [1, 1, 1]), (.appService, 503, 9, []), (.appService, 410, nil, []),
    (.appService, 502, nil, []),
    (.arc, 500, nil, [1, 1, 1]),
    (.serviceFabric, 401, nil, []),
  ]

  @Test(arguments: pauses)
  func `an answer is asked for again as the source's rule says`(
    source: ManagedIdentitySource, status: Int, retryAfter: Int64?, expected: [Int64]
  ) {
    var retry = ManagedIdentityRetry(source)
    var pauses: [Int64] = []
    while let pause = retry.pause(after: status, retryAfter: retryAfter) { pauses.append(pause) }
    #expect(pauses == expected)
  }

  static let challenges: [(String, String?)] = [
    ("Basic realm=/var/opt/azcmagent/tokens/a.key", "a.key"),
    ("basic REALM=\"/var/opt/azcmagent/tokens/b.key\"", "b.key"),
    ("Basic realm=/var/opt/azcmagent/tokens/.key", nil), ("Basic realm=/var/opt/azcmagent/tokens/a.txt", nil),
    ("Basic realm=/var/opt/azcmagent/tokens/../a.key", nil), ("Basic realm=/var/opt/azcmagent/tokens/x/a.key", nil),
    ("Basic realm=/etc/a.key", nil), ("Basic realm=a.key", nil), ("Bearer realm=/var/opt/azcmagent/tokens/a.key", nil),
    ("", nil), ("Basic realm=", nil),
  ]

  @Test(arguments: challenges)
  func `Arc may name a key file of its directory and no other`(challenge: String, name: String?) {
    #expect(ArcChallenge.file(in: challenge) == name)
  }
}
