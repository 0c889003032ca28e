// Metadata by the providers' documentation, with their peculiarities.

import Bytes
import HTTP
import Testing
import Tokens

@Suite struct ProviderShapesTests {
  struct Shape: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// As people copy it.
    var authority: String
    /// As the metadata spell it; nil: the same.
    var issuer: String?
    /// The beginning of its endpoints; nil: the authority.
    var base: String?
    /// The rests of its endpoints; nil: there is none.
    var token: String
    var device: String?
    var revocation: String?
    var pushed: String?
    var endSession: String?
    /// Further members.
    var members = ""
    var placements: [ClientSecretPlacement] = [.basic, .body]
    var offlineAccess = OfflineAccess.scope
    var supportsPKCE = true
    var requiresPushed = false
    var namesIssuer = false

    var endpoints: [String: String] {
      let rests = [
        "token_endpoint": token, "device_authorization_endpoint": device, "revocation_endpoint": revocation,
        "pushed_authorization_request_endpoint": pushed, "end_session_endpoint": endSession,
      ]
      return rests.compactMapValues { rest in rest.map { (base ?? authority) + $0 } }
    }
  }

  private static let methods = #""token_endpoint_auth_methods_supported": "#
  private static let both = methods + #"["client_secret_basic", "client_secret_post", "private_key_jwt", "none"]"#
  private static let pkce = #", "code_challenge_methods_supported": ["plain", "S256"]"#

  static let shapes: [Shape] = [
    Shape(
      testDescription: "Keycloak", authority: "https://id.example/realms/main/",
      issuer: "https://id.example/realms/main", base: "https://id.example/realms/main/protocol/openid-connect",
      token: "/token", device: "/auth/device", revocation: "/revoke", pushed: "/ext/par/request",
      endSession: "/logout",
      members: both + pkce
        + #", "require_pushed_authorization_requests": false, "tls_client_certificate_bound_access_tokens": true"#
        + #", "authorization_response_iss_parameter_supported": true, "mtls_endpoint_aliases": {"token_endpoint": "#
        + #""https://id.example/realms/main/protocol/openid-connect/token"}"#,
      namesIssuer: true),
    Shape(
      testDescription: "Okta", authority: "https://dev-1.okta.example/oauth2/default", token: "/v1/token",
      device: "/v1/device/authorize", revocation: "/v1/revoke", pushed: "/v1/par", endSession: "/v1/logout",
      members: both + #", "code_challenge_methods_supported": ["S256"]"#),
    Shape(
      testDescription: "Auth0, whose issuer ends with a slash", authority: "https://contoso.auth0.example",
      issuer: "https://contoso.auth0.example/", token: "/oauth/token", device: "/oauth/device/code",
      revocation: "/oauth/revoke", endSession: "/oidc/logout", members: both + pkce),
    Shape(
      testDescription: "Google, whose endpoints are on other hosts and which has no offline_access",
      authority: "https://accounts.google.com", base: "https://oauth2.googleapis.com", token: "/token",
      device: "/device/code", revocation: "/revoke",
      members: methods + #"["client_secret_post", "client_secret_basic"], "scopes_supported": ["openid", "email", "#
        + #""profile"]"# + pkce,
      offlineAccess: .parameter),
    Shape(
      testDescription: "PingOne", authority: "https://auth.pingone.example/11111111-aaaa-4aaa-8aaa-111111111111/as",
      token: "/token", device: "/device_authorization", revocation: "/revoke", pushed: "/par", endSession: "/signoff",
      members: both + pkce),
    Shape(
      testDescription: "Dex, without revocation and sign-out", authority: "https://dex.example/dex", token: "/token",
      device: "/device/code", members: methods + #"["client_secret_basic", "client_secret_post"]"# + pkce),
    Shape(
      testDescription: "Authelia that wants sign-ins pushed", authority: "https://auth.example",
      token: "/api/oidc/token", device: "/api/oidc/device-authorization", revocation: "/api/oidc/revocation",
      pushed: "/api/oidc/pushed-authorization-request",
      members: both + #", "code_challenge_methods_supported": ["S256"], "require_pushed_authorization_requests": true"#
        + #", "authorization_response_iss_parameter_supported": true"#,
      requiresPushed: true, namesIssuer: true),
    Shape(
      testDescription: "ZITADEL", authority: "https://contoso.zitadel.example", token: "/oauth/v2/token",
      device: "/oauth/v2/device_authorization", revocation: "/oauth/v2/revoke", endSession: "/oidc/v1/end_session",
      members: both + #", "code_challenge_methods_supported": ["S256"]"#),
    Shape(
      testDescription: "AD FS", authority: "https://fs.example/adfs", token: "/oauth2/token/",
      device: "/oauth2/devicecode", endSession: "/oauth2/logout",
      members: methods + #"["client_secret_post", "client_secret_basic", "private_key_jwt"]"#
        + #", "access_token_issuer": "http://fs.example/adfs/services/trust""#,
      placements: [.body], supportsPKCE: false),
    Shape(
      testDescription: "a server of OAuth alone", authority: "https://as.example/tenant", token: "/token",
      members: methods + #"["private_key_jwt"]"#, supportsPKCE: false),
  ]

  @Test(arguments: shapes) func `the metadata of a provider are read as it writes them`(shape: Shape) throws {
    let endpoints = shape.endpoints.map { #""\#($0)": "\#($1)""# }.joined(separator: ", ")
    let json = #"{"issuer": "\#(shape.issuer ?? shape.authority)", \#(endpoints), \#(shape.members)}"#
    let metadata = try ProviderMetadata(json: Array(json.utf8), authority: Authority(shape.authority))
    #expect(metadata.issuer == shape.issuer ?? shape.authority)
    for endpoint in ProviderEndpoint.allCases {
      #expect(metadata.url(of: endpoint)?.description == shape.endpoints[endpoint.rawValue])
    }
    #expect(metadata.endSessionEndpoint?.description == shape.endpoints["end_session_endpoint"])
    #expect(metadata.secretPlacements == shape.placements)
    #expect(metadata.offlineAccess == shape.offlineAccess)
    #expect(metadata.supportsPKCE == shape.supportsPKCE)
    #expect(metadata.requiresPushedAuthorization == shape.requiresPushed)
    #expect(metadata.namesIssuerInReplies == shape.namesIssuer)
  }

  @Test(
    arguments: [
      ("https://as.example", "https://as.example/.well-known/oauth-authorization-server"),
      ("https://as.example/", "https://as.example/.well-known/oauth-authorization-server"),
      ("https://as.example/a/b/", "https://as.example/.well-known/oauth-authorization-server/a/b"),
      ("https://login.microsoftonline.com/t", nil), ("https://fs.example/adfs", nil),
    ] as [(String, String?)])
  func `the well-known path of OAuth's metadata precedes the issuer's path`(authority: String, address: String?) throws
  {
    #expect(try Authority(authority).oauthMetadataURL?.description == address)
  }

  private static func metadata(_ members: String) throws -> ProviderMetadata {
    let json = """
      {"issuer": "https://i", "token_endpoint": "https://i/t", "revocation_endpoint": "https://i/r"\(members)}
      """
    return try ProviderMetadata(json: Array(json.utf8), authority: Authority("https://i"))
  }

  // RFC 8705 §5: an application that shows a certificate has to use the alias.
  @Test func `an alias is for applications that show a certificate, and must be https`() throws {
    let metadata = try Self.metadata(
      #", "mtls_endpoint_aliases": {"token_endpoint": "https://m.i/t", "revocation_endpoint": "http://m.i/r"}"#)
    #expect(metadata.url(of: .token)?.description == "https://i/t")
    #expect(metadata.url(of: .token, showingCertificate: true)?.description == "https://m.i/t")
    #expect(metadata.url(of: .revocation, showingCertificate: true)?.description == "https://i/r")
    var request = TokenRequest(
      ClientAuthentication("c", at: metadata, nil), grant: .clientCredentials, scopes: .none, claims: nil)
    #expect(request.endpoint.description == "https://i/t")
    request.application = ClientAuthentication("c", at: metadata, nil, showsCertificate: true)
    #expect(request.endpoint.description == "https://m.i/t")
    #expect(String(decoding: request.body, as: UTF8.self) == "grant_type=client_credentials&client_id=c")
  }

  @Test func `a token is revoked with the application's proof, and 200 is enough`() throws {
    let metadata = try Self.metadata("")
    let request = try #require(
      ProviderForm(
        revoking: Secret("rt&1"), .refreshToken,
        of: ClientAuthentication("c", at: metadata, .secret(Secret("s")), placement: .body)))
    #expect(request.endpoint.description == "https://i/r")
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == "client_id=c&token=rt%261&token_type_hint=refresh_token&client_secret=s")
    try ProviderAnswer(status: 200, body: Array("<html>".utf8)).checkRevocation(
      sent: request.sentSecrets, now: UnixTime(0))
    #expect(throws: TokenFailure(.refused(TokenErrorReply(error: "invalid_client")), status: 401)) {
      try ProviderAnswer(status: 401, body: Array(#"{"error": "invalid_client"}"#.utf8))
        .checkRevocation(sent: request.sentSecrets, now: UnixTime(0))
    }
    #expect(throws: TokenFailure(.unintelligible, status: 503, retryAfter: 7)) {
      try ProviderAnswer(status: 503, retryAfter: "7", body: [])
        .checkRevocation(sent: request.sentSecrets, now: UnixTime(0))
    }
  }

  private static func bound(_ claims: String) -> Secret {
    Secret("e30.\(Base64URL.encode(Array(claims.utf8))).c2ln")
  }

  // RFC 8705 §3.1.
  @Test func `a bound token is of use with its certificate alone`() {
    let certificate: [UInt8] = [1, 2, 3], name = Base64URL.encode(certificate)
    for (token, mine, others) in [
      (Self.bound(#"{"cnf": {"x5t#S256": "\#(name)"}}"#), true, false), (Self.bound("{}"), true, true),
      (Self.bound(#"{"cnf": {"jkt": "x"}}"#), true, true), (Secret("opaque"), true, true),
      (Secret("a.!.c"), true, true),
    ] {
      #expect(TokenBinding.allows(token, showing: certificate) == mine)
      #expect(TokenBinding.allows(token, showing: [3, 2, 1]) == others)
      #expect(TokenBinding.allows(token, showing: nil) == others)
    }
  }
}
