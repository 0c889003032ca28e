import Bytes
import HTTP
import Testing

@testable import Tokens

@Suite struct FederationTests {
  private static let now = UnixTime(1_700_000_000)
  private static let pod = [
    "AZURE_CLIENT_ID": "c", "AZURE_TENANT_ID": "t", "AZURE_AUTHORITY_HOST": "https://login.microsoftonline.us/",
    "AZURE_FEDERATED_TOKEN_FILE": "/var/run/token",
  ]

  static let pods: [([String: String], String?, String?)] = [
    (pod, "c", "https://login.microsoftonline.us/t"),
    (pod.filter { $0.key != "AZURE_AUTHORITY_HOST" }, "c", "https://login.microsoftonline.com/t"),
    (pod.merging(["AZURE_AUTHORITY_HOST": "https://id.example:8443"]) { $1 }, "c", "https://id.example:8443/t/v2.0"),
    (["AZURE_FEDERATED_TOKEN_FILE": "/var/run/token", "AZURE_TENANT_ID": ""], nil, nil),
  ]

  @Test(arguments: pods)
  func `a pod's variables are taken together`(
    environment: [String: String], clientID: String?, authority: String?
  ) throws {
    let found = try WorkloadIdentity(environment: environment)
    #expect(found.file == "/var/run/token" && found.clientID == clientID && found.authority == authority)
  }

  @Test func `without the token's file there is no workload identity`() {
    #expect(throws: EnvironmentMistake.missing("AZURE_FEDERATED_TOKEN_FILE")) {
      _ = try WorkloadIdentity(environment: Self.pod.filter { $0.key != "AZURE_FEDERATED_TOKEN_FILE" })
    }
  }

  private static let proxy = "AZURE_KUBERNETES_TOKEN_PROXY"
  private static let (caFile, caData) = ("AZURE_KUBERNETES_CA_FILE", "AZURE_KUBERNETES_CA_DATA")

  static let proxies: [([String: String], TokenEndpointProxy.Trust, String)] = [
    ([proxy: "https://p.example"], .system, "https://p.example/t/oauth2/v2.0/token"),
    (
      [proxy: "https://p.example/a/b/", caFile: "/ca.pem"], .file("/ca.pem"),
      "https://p.example/a/b/t/oauth2/v2.0/token"
    ),
    ([proxy: "https://10.0.0.1:8443/a", caData: "PEM"], .text("PEM"), "https://10.0.0.1:8443/a/t/oauth2/v2.0/token"),
  ]

  @Test(arguments: proxies)
  func `an identity binding's proxy takes the token requests`(
    environment: [String: String], trust: TokenEndpointProxy.Trust, address: String
  ) throws {
    let found = try TokenEndpointProxy(environment: environment.merging(["AZURE_KUBERNETES_SNI_NAME": "n"]) { $1 })
    #expect(found.trust == trust && found.serverName == "n")
    let endpoint = try HTTPURL("https://login.microsoftonline.com/t/oauth2/v2.0/token")
    #expect(found.address(for: endpoint).description == address)
  }

  @Test(arguments: [
    ([:], EnvironmentMistake.missing(proxy)), ([caFile: "/ca.pem"], .missing(proxy)),
    ([proxy: "http://p.example"], .url(proxy)), ([proxy: "https://u:p@p.example"], .url(proxy)),
    ([proxy: "https://p.example/?a=1"], .url(proxy)), ([proxy: "https://p.example/#a"], .url(proxy)),
    ([proxy: "https://p.example", caFile: "/ca.pem", caData: "PEM"], .twoTrusts(caFile, caData)),
  ])
  func `a proxy that cannot be used is named`(environment: [String: String], expected: EnvironmentMistake) {
    #expect(throws: expected) { _ = try TokenEndpointProxy(environment: environment) }
  }

  private static let job = [
    "ACTIONS_ID_TOKEN_REQUEST_URL": "https://actions.example/token?api-version=2.0",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "job-token",
  ]

  @Test(arguments: [
    ([:], EnvironmentMistake.missing("ACTIONS_ID_TOKEN_REQUEST_URL")),
    (["ACTIONS_ID_TOKEN_REQUEST_URL": "https://a.example/"], .missing("ACTIONS_ID_TOKEN_REQUEST_TOKEN")),
    (job.merging(["ACTIONS_ID_TOKEN_REQUEST_TOKEN": "a\r\nb"]) { $1 }, .missing("ACTIONS_ID_TOKEN_REQUEST_TOKEN")),
    (job.merging(["ACTIONS_ID_TOKEN_REQUEST_URL": "actions"]) { $1 }, .url("ACTIONS_ID_TOKEN_REQUEST_URL")),
    (
      job.merging(["ACTIONS_ID_TOKEN_REQUEST_URL": "http://a.example/"]) { $1 },
      .plaintext("ACTIONS_ID_TOKEN_REQUEST_URL")
    ),
  ])
  func `a job's missing permission is named`(environment: [String: String], expected: EnvironmentMistake) {
    #expect(throws: expected) { _ = try FederatedTokenService.githubActions(environment: environment) }
  }

  @Test func `each service is asked as it wants to be`() throws {
    let gcp = FederatedTokenRequest(try .gcp(environment: [:]), audience: "api://AzureADTokenExchange")
    #expect(
      gcp.url.description
        == "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/identity"
        + "?audience=api%3A%2F%2FAzureADTokenExchange&format=full")
    #expect(gcp.fields.map { "\($0.name): \($0.value)" } == ["metadata-flavor: Google"])
    let elsewhere = try FederatedTokenService.gcp(environment: ["GCE_METADATA_HOST": "127.0.0.1:8099"])
    #expect(elsewhere.endpoint.origin == "http://127.0.0.1:8099")
    let job = FederatedTokenRequest(try .githubActions(environment: Self.job), audience: "a b")
    #expect(job.url.description == "https://actions.example/token?api-version=2.0&audience=a%20b")
    #expect(job.fields.first?.value == "bearer job-token")
  }

  private static let jwt = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2kiLCJzdWIiOiJzIiwiZXhwIjoxNzAwMDAwMTAwfQ.AAAA"

  static let answers: [(gcp: Bool, status: Int, flavor: String?, body: String, cause: TokenFailure.Cause?)] = [
    (true, 200, "Google", jwt + "\n", nil), (true, 200, nil, jwt, .unintelligible),
    (true, 200, "Google", "<html>", .unusableToken), (true, 503, "Google", "", .unintelligible),
    (
      true, 404, "Google", "Service account not found",
      .refused(TokenErrorReply(error: "status 404", description: "Service account not found"))
    ),
    (false, 200, nil, #"{"count": 1, "value": "\#(jwt)"}"#, nil), (false, 429, nil, "", .unintelligible),
    (false, 200, nil, #"{"value": "x"}"#, .unusableToken),
    (
      false, 401, nil, #"{"message": "expired"}"#,
      .refused(TokenErrorReply(error: "status 401", description: "expired"))
    ),
    (false, 403, nil, #"{"message": "job-token is no good"}"#, .refused(TokenErrorReply(error: "status 403"))),
  ]

  @Test(arguments: answers)
  func `an answer is a token, or says why not`(
    gcp: Bool, status: Int, flavor: String?, body: String, cause: TokenFailure.Cause?
  ) throws {
    let service = try gcp ? FederatedTokenService.gcp(environment: [:]) : .githubActions(environment: Self.job)
    do throws(TokenFailure) {
      let token = try FederatedTokenRequest(service, audience: "a").token(
        ProviderAnswer(status: status, body: Array(body.utf8)), now: Self.now
      ) { $0 == "metadata-flavor" ? flavor : nil }
      #expect(cause == nil && token.text == Secret(Self.jwt))
      #expect(token.claims?.issuer == "https://i" && token.claims?.subject == "s")
      #expect(token.expiresAt == Self.now + 100)
      #expect(token.isKept(at: Self.now + 40) && !token.isKept(at: Self.now + 41))
    } catch {
      #expect(error.cause == cause)
    }
  }

  @Test func `a token that does not say when it ends serves one request, and one ends with its lifetime`() {
    #expect(FederatedToken("eyJhbGciOiJSUzI1NiJ9.e30.AAAA")?.isKept(at: Self.now) == false)
    #expect(FederatedToken("e30.e30") == nil)
    #expect(FederatedToken(Secret("opaque"), expiresAt: Self.now + 60).isKept(at: Self.now))
    #expect(FederatedToken(Secret(Self.jwt), expiresAt: Self.now + 3600).expiresAt == Self.now + 100)
  }

  static let pauses: [(TokenErrorClass, Bool, Int64, Int64)] = [
    (.configuration, true, 0, 10), (.configuration, true, 299, 10), (.configuration, true, 300, 60),
    (.configuration, false, 0, 60), (.declined, true, 0, 60), (.transient, true, 0, 2),
  ]

  @Test(arguments: pauses)
  func `a fresh registration is retried often, for minutes`(
    errorClass: TokenErrorClass, mayPropagate: Bool, after: Int64, pause: Int64
  ) {
    var throttle = Throttle()
    throttle.failed(errorClass, retryAfter: nil, mayPropagate: mayPropagate, now: Self.now, jitter: 0)
    throttle.failed(errorClass, retryAfter: nil, mayPropagate: mayPropagate, now: Self.now + after, jitter: 0)
    #expect(throttle.pause(at: Self.now + after) == Self.now + after + pause)
  }

  @Test func `a refusal after another failure, or a success, is a new one`() {
    for ends in [true, false] {
      var throttle = Throttle()
      throttle.failed(.configuration, retryAfter: nil, mayPropagate: true, now: Self.now, jitter: 0)
      if ends {
        throttle.succeeded()
      } else {
        throttle.failed(.transient, retryAfter: nil, now: Self.now + 400, jitter: 0)
      }
      throttle.failed(.configuration, retryAfter: nil, mayPropagate: true, now: Self.now + 500, jitter: 0)
      #expect(throttle.pause(at: Self.now + 500) == Self.now + 510)
    }
  }

  @Test(arguments: [(86_400, 43_200), (7200, 3600), (200, 100), (100, 60), (40, 40), (1, 1)] as [(Int64, Int64)])
  func `a service that keeps a token is not asked without end`(life: Int64, due: Int64) {
    let lifetime = TokenLifetime(ofSameToken: life, now: Self.now)
    #expect(lifetime.refreshAt == Self.now + due && lifetime.expiresAt == Self.now + life)
  }
}
