import Bytes
import FoundationEssentials
import Testing

@testable import Tokens

@Suite struct SentSecretsTests {
  private static let now = UnixTime(1_700_000_000)
  private static let secret = #"s3cret+with/odd=chars&"more"\~ é%41"#
  private static let sent = SentSecrets([Secret("another-one-that-is-not-repeated"), Secret(secret)])

  private static func percent(_ text: String, keeping: String = "", digits: (String) -> String = { $0 }) -> String {
    text.utf8.map { byte in
      let scalar = Character(Unicode.Scalar(byte))
      if byte < 0x80, scalar.isLetter || scalar.isNumber || keeping.contains(scalar) { return String(scalar) }
      let number = String(byte, radix: 16, uppercase: true)
      return digits("%" + (number.count == 1 ? "0" : "") + number)
    }.joined()
  }

  private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

  /// Every form in which a provider may repeat a secret.
  static let forms: [(name: String, text: String)] = {
    let upper = percent(secret)
    let lower = percent(secret) { $0.lowercased() }
    let plus = percent(secret, keeping: " ").replacing(" ", with: "+")
    let basic = base64("client:" + upper)
    let plain = base64("client:" + secret)
    func unpadded(_ text: String) -> String { String(text.prefix { $0 != "=" }) }
    func urlSafe(_ text: String) -> String { text.replacing("+", with: "-").replacing("/", with: "_") }
    let json = JSONValue.string(secret).canonicalText()
    let escaped = secret.unicodeScalars.map { scalar in
      let digits = String(scalar.value, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
    return [
      ("raw", secret), ("percent, upper case", upper), ("percent, lower case", lower),
      ("percent, plus for space", plus),
      ("percent, some", secret.replacing("&", with: "%26")), ("percent, twice", percent(upper)),
      ("percent, of each byte", secret.utf8.map { "%" + String($0, radix: 16) }.joined()),
      ("basic", basic), ("basic without padding", unpadded(basic)), ("basic, URL-safe", urlSafe(basic)),
      ("basic, URL-safe without padding", unpadded(urlSafe(basic))), ("basic, not form-encoded", plain),
      ("basic, percent-encoded", percent(basic)), ("basic, JSON-escaped", basic.replacing("/", with: "\\/")),
      ("base64 alone", base64(secret)), ("JSON", json), ("JSON, escapes only", escaped),
      ("HTML", secret.replacing("&", with: "&amp;").replacing("\"", with: "&quot;")),
      ("HTML, numbers", secret.replacing("&", with: "&#38;").replacing("\"", with: "&#x22;")),
      ("cut off behind", String(secret.prefix(14))), ("cut off in front", String(secret.suffix(16))),
      ("cut off, basic", String(basic.prefix(36))),
    ]
  }()

  @Test(arguments: forms) func `a secret is found in every spelling, alone and in a sentence`(
    name: String, text: String
  ) {
    for sentence in [text, "The secret \(text) is wrong.", "client_id=a&client_secret=\(text)&x=y", "Basic \(text)"] {
      #expect(Self.sent.isRepeated(in: sentence), "\(name): \(sentence)")
    }
  }

  /// A token that callers bring, in the words of providers: whole, cut anywhere, or one of its parts.
  @Test func `a part of a token tells of it, wherever it is cut`() {
    let header = "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ"
    let claims = "eyJpc3MiOiJodHRwczovL2kiLCJhdWQiOiJhcGk6Ly94Iiwic3ViIjoiYW5uIn0"
    let signature = "c2lnbmF0dXJlLW9mLXRoZS1pc3N1ZXItdGhhdC1ub2JvZHktZWxzZS1jYW4tbWFrZQ"
    let token = "\(header).\(claims).\(signature)"
    let sent = SentSecrets([Secret(token)])
    let parts = [
      token, header, claims, signature, "\(header).\(claims)", "\(claims).\(signature)",
      String(token.dropFirst(5).dropLast(5)),
      String(claims.dropFirst(20).prefix(12)), String(signature.dropFirst(3).prefix(30)), Self.base64(token),
      Self.percent(String(token.dropFirst(9).dropLast(9))),
    ]
    for part in parts {
      #expect(sent.isRepeated(in: part), "\(part)")
      #expect(sent.isRepeated(in: "AADSTS500133: Assertion '…\(part)…' is not within its valid time range."), "\(part)")
    }
    #expect(!sent.isRepeated(in: "AADSTS500133: Assertion is not within its valid time range. " + claims.prefix(11)))
  }

  @Test(arguments: [
    "", "AADSTS7000215: Invalid client secret provided. Ensure the secret being sent is the secret value.",
    "invalid_client", "s3cret+with", "c3RyYW5nZXIncyBzZWNyZXQ=", "%E2%9C%93 \\u00e9 &amp; &#x26; \\", "% %4 %zz + &;",
  ])
  func `values that are not secret are shown`(text: String) {
    #expect(!Self.sent.isRepeated(in: text))
    #expect(!SentSecrets.none.isRepeated(in: Self.secret))
    #expect(!SentSecrets([Secret("")]).isRepeated(in: text))
  }

  /// The failure that an answer is, to a request with these secrets.
  private static func failure(_ body: String, _ sent: SentSecrets = sent) throws -> TokenFailure {
    try #require(throws: TokenFailure.self) {
      try TokenReply(ProviderAnswer(status: 401, body: Array(body.utf8)), sent: sent, now: now)
    }
  }

  @Test(arguments: forms) func `no member of an error shows it, and the class of the error stays`(
    name: String, text: String
  ) throws {
    for code in ["invalid_client", text] {
      let value = JSONValue.string("x " + text)
      let body = JSONValue.object([
        "error": .string(code), "error_description": value, "suberror": value, "correlation_id": value,
        "error_uri": value,
        "trace_id": value, "error_codes": .array([value]), "claims": .string(#"{"access_token":{"x":{"value":"y"}}}"#),
        "timestamp": value,
      ])
      let error = try Self.failure(body.canonicalText())
      let reply = try #require(error.reply)
      #expect(reply.error == (code == "invalid_client" ? code : "withheld"), "\(name)")
      #expect(reply.description == "the provider's words repeat a secret of the request, and are not shown")
      #expect(reply.suberror == nil && reply.correlationID == nil && reply.codes.isEmpty, "\(name)")
      #expect(reply.claims != nil)
      #expect(error.errorClass == .configuration)
    }
  }

  @Test(arguments: forms) func `claims that show it are no claims`(name: String, text: String) throws {
    let claims = JSONValue.object(["access_token": .object(["x": .object(["value": .string(text)])])]).canonicalText()
    let body = JSONValue.object(["error": .string("interaction_required"), "claims": .string(claims)])
    #expect(
      try Self.failure(body.canonicalText()).cause == .refused(TokenErrorReply(error: "interaction_required")),
      "\(name)")
  }

  @Test func `a secret of digits is no error code, and a long text is not looked through`() throws {
    let sent = SentSecrets([Secret("7000215")])
    let body = #"{"error": "invalid_client", "error_codes": [7000215], "error_description": "AADSTS7000215: no"}"#
    let reply = try #require(try Self.failure(body, sent).reply)
    #expect(reply.codes.isEmpty)
    #expect(reply.description?.contains("7000215") == false)
    #expect(Self.sent.isRepeated(in: String(repeating: "x", count: 20_000)))
    #expect(!Self.sent.isRepeated(in: String(repeating: "x ", count: 8_000)))
  }

  @Test func `a good reply gives its tokens, and no scope or address with a secret in it`() throws {
    let reply = try TokenReply(
      ProviderAnswer(
        status: 200,
        body: Array(#"{"access_token": "AT", "refresh_token": "refresh-token-1", "scope": "a refresh-token-1"}"#.utf8)),
      sent: SentSecrets([Secret("refresh-token-1")]), now: Self.now)
    #expect(reply.accessToken == Secret("AT") && reply.refreshToken == Secret("refresh-token-1"))
    #expect(reply.scope == nil)
    let codes =
      #"{"device_code": "DC", "user_code": "s3cret-of-mine", "verification_uri": "https://id.example/device"}"#
    #expect(throws: TokenFailure(.unintelligible, status: 200)) {
      try DeviceAuthorizationReply(
        ProviderAnswer(status: 200, body: Array(codes.utf8)), sent: SentSecrets([Secret("s3cret-of-mine")]),
        now: Self.now)
    }
  }

  @Test func `each secret that a request carries is looked for`() throws {
    let metadata = try ProviderMetadata(
      json: Array(
        (#"{"issuer": "https://id.example", "token_endpoint": "https://id.example/token", "#
          + #""device_authorization_endpoint": "https://id.example/device"}"#).utf8),
      authority: Authority("https://id.example"))
    func sent(_ credential: ClientCredential?, _ grant: TokenGrant) -> SentSecrets {
      TokenRequest(ClientAuthentication("c", at: metadata, credential), grant: grant, scopes: .none, claims: nil)
        .sentSecrets
    }
    #expect(sent(.secret(Secret("client-secret-1")), .clientCredentials).isRepeated(in: "client-secret-1"))
    #expect(
      sent(.assertion(Secret("header.claims.signature")), .clientCredentials).isRepeated(in: "header.claims.signature"))
    let code = sent(
      nil,
      .authorizationCode(
        Secret("code-of-a-person"), redirectURI: "http://localhost/", verifier: Secret("the-verifier-1")))
    #expect(code.isRepeated(in: "code-of-a-person") && code.isRepeated(in: "the-verifier-1"))
    #expect(sent(nil, .deviceCode(Secret("device-code-one"))).isRepeated(in: "device-code-one"))
    #expect(sent(nil, .refreshToken(Secret("refresh-token-1"))).isRepeated(in: "refresh-token-1"))
    let device = ProviderForm(
      deviceCodesFor: ClientAuthentication("c", at: metadata, .secret(Secret("client-secret-1"))), scopes: .none,
      claims: nil)
    #expect(device?.sentSecrets.isRepeated(in: "client-secret-1") == true)
  }
}
