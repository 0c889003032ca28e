// An application that proves itself with a certificate: what its assertions say to which provider, that each is signed
// for one request, and what is said when the provider does not take it.

import Bytes
import FoundationEssentials
import HTTPClient
import Platform
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5)))
struct CertificateCredentialTests {
  private static let folder =
    "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Fixtures/certificates/"

  private static func certificate(_ name: String) throws -> SigningCertificate {
    func file(_ name: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(filePath: folder + name))) }
    return try SigningCertificate(pem: file("\(name).pem"), key: file("\(name).key"), passphrase: nil)
  }

  private static let names = CertificateNames(
    sha1: Array(repeating: 0xFB, count: 20), sha256: Array(repeating: 0xFF, count: 32),
    chain: [[1, 2, 3], [250, 251, 252]])

  private static let metadata = Result {
    try ProviderMetadata(
      json: Array(#"{"issuer":"https://id.example/r","token_endpoint":"https://id.example/r/token"}"#.utf8),
      authority: Authority("https://id.example/r"))
  }

  private static let sha1 = #""x5t":"-_v7-_v7-_v7-_v7-_v7-_v7-_s""#
  private static let sha256 = #""x5t#S256":"__________________________________________8""#

  static let headers: [(ClientAssertionForm, String)] = [
    (ClientAssertionForm(.ps256), #"{"alg":"PS256","typ":"JWT",\#(sha256)}"#),
    (ClientAssertionForm(.rs256), #"{"alg":"RS256","typ":"JWT",\#(sha1)}"#),
    (ClientAssertionForm(.es256), #"{"alg":"ES256","typ":"JWT",\#(sha256)}"#),
    (ClientAssertionForm(.es384), #"{"alg":"ES384","typ":"JWT",\#(sha256)}"#),
    (ClientAssertionForm(.es512, keyID: "key-1"), #"{"alg":"ES512","kid":"key-1","typ":"JWT"}"#),
    (ClientAssertionForm(.es256, keyID: "key-1"), #"{"alg":"ES256","kid":"key-1","typ":"JWT"}"#),
    (
      ClientAssertionForm(.rs256, sendsChain: true),
      #"{"alg":"RS256","typ":"JWT","x5c":["AQID","+vv8"],\#(sha1)}"#
    ),
  ]

  /// An assertion of this form to the provider, at the clock's start.
  private static func assertion(_ form: ClientAssertionForm) throws -> ClientAssertion {
    ClientAssertion(form, of: names, clientID: "c", to: try metadata.get(), now: ManualClock.start, id: "id-1")
  }

  @Test(arguments: headers)
  func `an algorithm goes with its thumbprint or key name, and with the chain on request`(
    form: ClientAssertionForm, header: String
  ) throws {
    #expect(try Self.assertion(form).header.canonicalText() == header)
  }

  static let audiences: [(ClientAssertionAudience, String)] = [
    (ClientAssertionAudience.tokenEndpoint, "https://id.example/r/token"), (.issuer, "https://id.example/r"),
  ]

  @Test(arguments: audiences)
  func `claims name the audience, the client and ten minutes, as numbers`(
    audience: ClientAssertionAudience, expected: String
  ) throws {
    let assertion = try Self.assertion(ClientAssertionForm(.ps256, audience: audience))
    #expect(
      assertion.claims.canonicalText()
        == #"{"aud":"\#(expected)","exp":1700000600,"iat":1700000000,"iss":"c","jti":"id-1","nbf":1700000000,"sub":"c"}"#
    )
  }

  @Test func `further claims are added beside them`() throws {
    let form = ClientAssertionForm(.ps256, claims: try AssertionClaims(["client_ip": "192.0.2.7"]))
    let claims = try #require(Self.assertion(form).claims.members)
    #expect(claims["client_ip"]?.text == "192.0.2.7" && claims["jti"]?.text == "id-1" && claims.count == 8)
  }

  static let algorithms: [(String, [ClientAssertionAlgorithm], ClientAssertionAlgorithm?)] = [
    ("https://login.microsoftonline.com/contoso.onmicrosoft.com", [ClientAssertionAlgorithm.ps256, .rs256], .ps256),
    ("https://contoso.ciamlogin.com/contoso.onmicrosoft.com", [.ps256, .rs256], .ps256),
    ("https://sts.contoso.com/adfs", [.ps256, .rs256], .rs256),
    ("https://id.example/r", [.ps256, .rs256], .rs256),
    ("https://id.example/r", [.es256], .es256), ("https://id.example/r", [.es384], .es384),
    ("https://login.microsoftonline.com/contoso.onmicrosoft.com", [.es512], .es512),
    ("https://id.example/r", [.ps256], .ps256),
    ("https://login.microsoftonline.com/contoso.onmicrosoft.com", [.es256], .es256),
    ("https://id.example/r", [], nil),
  ]

  @Test(arguments: algorithms)
  func `the provider and the key decide the algorithm`(
    authority: String, possible: [ClientAssertionAlgorithm], expected: ClientAssertionAlgorithm?
  ) throws {
    #expect(try Authority(authority).assertionAlgorithm(among: possible) == expected)
  }

  static let keys: [(String, ClientAssertionAlgorithm)] = [
    ("rsa", ClientAssertionAlgorithm.ps256), ("rsa", .rs256), ("ec", .es256), ("p384", .es384),
    ("p521", .es512),
  ]

  @Test(arguments: keys)
  func `each token request carries an assertion of its own, and a held token needs none`(
    name: String, algorithm: ClientAssertionAlgorithm
  ) async throws {
    let provider = ScriptedProvider()
    let broker = TokenBroker(at: ManualClock())
    let application = try provider.application(.certificate(Self.certificate(name), ClientAssertionForm(algorithm)))
    for scope in ["a", "b", "a", "b"] {
      _ = try await broker.bearer(for: application.wish(scope))
    }
    let forms = await provider.forms
    #expect(forms.count == 2)
    var ids: Set<String> = []
    for form in forms {
      #expect(form.contains("client_id=client&") && form.contains("client-assertion-type%3Ajwt-bearer"))
      #expect(!form.contains("client_secret"))
      let text = try #require(form.split(separator: "&").first { $0.hasPrefix("client_assertion=") })
      let parts = text.dropFirst("client_assertion=".count).split(separator: ".")
      #expect(parts.count == 3)
      let header = try #require(JSONValue(json: Base64URL.decode(parts[0]))?.members)
      let claims = try #require(JSONValue(json: Base64URL.decode(parts[1]))?.members)
      #expect(header["alg"]?.text == algorithm.rawValue)
      #expect(claims["aud"]?.text == "https://id.example/token" && claims["sub"]?.text == "client")
      ids.insert(try #require(claims["jti"]?.text))
      #expect(try Base64URL.decode(parts[2]).count == ["ec": 64, "p384": 96, "p521": 132, "rsa": 256][name])
    }
    #expect(ids.count == 2)
  }

  static let dates: [(String?, String?)] = [
    (nil, nil), ("Tue, 14 Nov 2023 22:13:20 GMT", nil), ("Tue, 14 Nov 2023 22:14:19 GMT", nil),
    ("Tue, 14 Nov 2023 22:05:20 GMT", "this machine's clock is 8 min ahead of the provider's"),
    ("Wed, 15 Nov 2023 00:13:20 GMT", "this machine's clock is 2 h behind the provider's"),
  ]

  @Test(arguments: dates)
  func `a refused assertion is told with the difference between the clocks`(date: String?, words: String?) async throws
  {
    let provider = ScriptedProvider()
    let refusal = FetchResponse(
      status: 401, fields: date.map { [("date", $0)] } ?? [],
      body: Array(#"{"error":"invalid_client","error_description":"AADSTS700027: not registered"}"#.utf8))
    await provider.script(tokens: [.response(refusal)])
    let wish = try provider.application(.certificate(Self.certificate("ec"), ClientAssertionForm(.es256))).wish("a")
    let error = await #expect(throws: AcquisitionError.self) {
      try await TokenBroker(at: ManualClock()).bearer(for: wish)
    }
    let detail = error?.detail ?? ""
    #expect(detail.hasPrefix("invalid_client; AADSTS700027: not registered"))
    #expect(words.map { detail.hasSuffix($0) } ?? !detail.contains("clock"), "\(detail)")
    #expect(await provider.forms.count == 1)
  }

  static let stations: [(Int64, CertificateValidity.State)] = [
    (-1, CertificateValidity.State.notYetValid), (0, .valid), (69 * 86_400, .valid), (71 * 86_400, .endsSoon),
    (92 * 86_400, .endsSoon), (94 * 86_400, .endsVerySoon), (100 * 86_400, .endsVerySoon), (100 * 86_400 + 1, .expired),
  ]

  @Test(arguments: stations)
  func `the state of a certificate of a hundred days follows its remaining time`(
    seconds: Int64, state: CertificateValidity.State
  ) {
    let start = ManualClock.start
    let validity = CertificateValidity(notBefore: start, notAfter: start + 100 * 86_400)
    #expect(validity.state(at: start + seconds) == state)
  }
}
