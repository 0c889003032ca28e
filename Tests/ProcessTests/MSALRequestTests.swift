// The real msal's requests for the options that Microsoft's providers know, beside ours for the same.

import Bytes
import FoundationEssentials
import HTTP
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct MSALRequestTests {
  private static let authority = "https://login.microsoftonline.com/11111111-aaaa-4aaa-8aaa-111111111111"
  private static let user = "aaaaaaaa-0001-4001-8001-aaaaaaaaaaaa"
  private static let certificates = testsDirectory + "/Fixtures/certificates/"

  /// A request as Tests/peers/msal_requests.py tells it.
  struct Sent: Codable, Equatable, Sendable {
    var url: String
    var form: [String: String]
    var anchor: String?

    /// The same without the scopes, which msal decorates for every person: a refresh token of a caller would outlive
    /// the caller's own token.
    var withoutScope: Sent {
      var sent = self
      sent.form["scope"] = nil
      return sent
    }
  }

  private struct Told: Decodable {
    /// Times are fractions.
    struct Claims: Decodable {
      var aud, iss, sub, jti, client_ip: String
      var exp, iat: Double
    }

    var on_behalf_of, user_by_name, user_by_id, regional, regional_on_behalf_of: Sent
    var signed: Claims
    var offline, online: [String: String]
  }

  private func msal() async throws -> Told {
    let output = try await succeed(
      peer(
        "msal_requests.py", ["--certificate", Self.certificates + "rsa.pem", "--key", Self.certificates + "rsa.key"]))
    return try JSONDecoder().decode(Told.self, from: Data(output.utf8))
  }

  /// Entra, which notes what is posted.
  private actor Recorder {
    private(set) var sent: [Sent] = []

    nonisolated var fetch: Fetch {
      { request throws(FetchError) in await self.answer(request) }
    }

    private func answer(_ request: FetchRequest) -> FetchResponse {
      let authority = MSALRequestTests.authority
      guard case .post(_, let body) = request.method else {
        let metadata = #"""
          {"issuer": "\#(authority)/v2.0", "token_endpoint": "\#(authority)/oauth2/v2.0/token",
           "authorization_endpoint": "\#(authority)/oauth2/v2.0/authorize"}
          """#
        return FetchResponse(status: 200, body: Array(metadata.utf8))
      }
      sent.append(
        Sent(
          url: request.url.description, form: MSALRequestTests.members(String(decoding: body, as: UTF8.self)),
          anchor: request.fields.first { $0.name == "x-anchormailbox" }?.value))
      let token = #"{"access_token": "PROOF", "token_type": "Bearer", "expires_in": 3600}"#
      return FetchResponse(status: 200, body: Array(token.utf8))
    }
  }

  private static func members(_ query: String) -> [String: String] {
    var components = URLComponents()
    components.percentEncodedQuery = query
    return Dictionary((components.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
  }

  /// The last request for a token.
  private func sent(
    _ subscription: (Application) throws -> TokenSubscription,
    by credential: CredentialSource = .secret(Secret("s3cret")), region: String? = nil
  ) async throws -> Sent {
    let recorder = Recorder()
    var application = Application(
      name: "a", authority: try Authority(Self.authority), clientID: "client", credential: credential,
      fetch: recorder.fetch)
    application.region = region.flatMap { AzureRegion($0) }.map { .named($0) }
    let broker = TokenBroker(TokenBroker.Surroundings(now: { UnixTime(1_700_000_000) }, jitter: { 0 }))
    _ = try await broker.bearer(for: subscription(application))
    return try #require(await recorder.sent.last)
  }

  private static func onBehalf(_ application: Application) throws -> TokenSubscription {
    TokenSubscription(
      application: application, subject: .caller(nil, .onBehalfOf), scopes: try ScopeSet(["api://down/read"])
    )
    .onBehalf(of: try CallerAssertion(unverified: Secret("INCOMING")))
  }

  private static func own(_ application: Application) throws -> TokenSubscription {
    TokenSubscription(application: application, scopes: try ScopeSet(["api://down/.default"]))
  }

  private func address(_ change: (inout Application) -> Void) async throws -> [String: String] {
    let recorder = Recorder()
    var application = Application(
      name: "a", authority: try Authority(Self.authority), clientID: "client", credential: nil, fetch: recorder.fetch)
    application.domainHint = DomainHint("contoso.com")
    change(&application)
    var request = SignInRequest(application: application, scopes: try ScopeSet(["api://down/read"]))
    request.terms.prompt = .create
    request.terms.loginHint = "ann@contoso.com"
    let signIn = try await BrowserSignIn.begin(
      request, redirectURI: "http://localhost:8400", store: CacheStore.memory(),
      broker: TokenBroker(TokenBroker.Surroundings(now: { UnixTime(1_700_000_000) }, jitter: { 0 })),
      now: { UnixTime(1_700_000_000) })
    return Self.members(String(try await signIn.address().split(separator: "?")[1]))
  }

  /// Without what is new in each.
  private static func comparable(_ query: [String: String]) -> [String: String] {
    query.filter { !["state", "nonce", "code_challenge"].contains($0.key) }
  }

  @Test func `the parameters of Microsoft's options are msal's`() async throws {
    let told = try await msal()

    var expected = told.on_behalf_of.withoutScope
    #expect(try await sent(Self.onBehalf).withoutScope == expected)
    #expect(try await sent(Self.onBehalf, region: "westeurope").url == told.regional_on_behalf_of.url)
    for (user, theirs) in [("ann@contoso.com", told.user_by_name), (Self.user, told.user_by_id)] {
      expected = theirs.withoutScope
      expected.form["requested_token_use"] = "on_behalf_of"
      // The value's case has no meaning.
      expected.anchor = expected.anchor?.replacing("upn:", with: "UPN:")
      let ours = try await sent {
        TokenSubscription(application: $0, subject: .agentUser(user), scopes: try ScopeSet(["api://down/read"]))
      }
      #expect(ours.withoutScope == expected)
    }

    expected = told.regional
    // There is no person; msal for Go does not ask either.
    expected.form["client_info"] = nil
    #expect(try await sent(Self.own, region: "westeurope") == expected)

    let pem = try Data(contentsOf: URL(filePath: Self.certificates + "rsa.pem"))
    let key = try Data(contentsOf: URL(filePath: Self.certificates + "rsa.key"))
    let certificate = try SigningCertificate(pem: Array(pem), key: Array(key), passphrase: nil)
    let form = ClientAssertionForm(.ps256, claims: try AssertionClaims(["client_ip": "192.0.2.7"]))
    let assertion = try await sent(Self.own, by: .certificate(certificate, form)).form["client_assertion"] ?? ""
    let payload = try Base64URL.decode(try #require(assertion.split(separator: ".").dropFirst().first))
    let ours = try JSONDecoder().decode(Told.Claims.self, from: Data(payload))
    #expect((ours.aud, ours.iss) == (told.signed.aud, told.signed.iss))
    #expect((ours.sub, ours.client_ip) == (told.signed.sub, told.signed.client_ip))
    #expect(ours.exp - ours.iat == 600 && abs(told.signed.exp - told.signed.iat - 600) < 1)

    #expect(try await Self.comparable(address { _ in }) == Self.comparable(told.offline))
    #expect(try await Self.comparable(address { $0.hasOfflineAccess = false }) == Self.comparable(told.online))
  }
}
