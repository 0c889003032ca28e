// A provider that signs people in by a script: it signs its ID tokens, remembers what it was asked, and has no network
// and no clock.

import Bytes
import FoundationEssentials
import HTTP
import HTTPClient
import Platform
import Testing
import Tokens

@testable import Identity

/// Answers metadata, keys, device codes and tokens; the latter as scripted, and with good ones if nothing is.
actor SignInProvider {
  static let issuer = "https://id.example/realms/demo"
  static let client = "client-1"
  static let now = UnixTime(1_700_000_000)
  /// Making a key takes a tenth of a second, so once; the second is no provider's.
  static let key = Result { try RSAKey.generate() }
  static let otherKey = Result { try RSAKey.generate() }

  /// A flaw of an ID token.
  enum Flaw: Sendable, CaseIterable {
    case absent, garbage, otherKey, otherNonce, otherIssuer, otherAudience, expired, noSubject
  }

  /// Whatever the tests change about the answers.
  struct Habits: Sendable {
    var flaw: Flaw?
    var responseModes = ["query"]
    var hasAuthorization = true
    var prompts: [String]?
    var namesIssuer = false
    var hasDeviceCodes = true
    var keys = 200
    /// True if the key that signs is no longer published.
    var hasWithdrawnKey = false
    /// `typ` in the header of tokens, and claims beside the usual ones.
    var type: String?
    var claims: [String: JSONValue] = [:]
    var algorithm = JWTAlgorithm.rs256
    var clientInfo: String?
    var granted: String? = "api://orders/read openid"
    var tokens: [(status: Int, json: String)] = []
    var device = (
      status: 200,
      json:
        #"{"device_code": "DC", "user_code": "AB-CD", "verification_uri": "https://id.example/device", "interval": 5}"#
    )
  }

  private(set) var forms: [[String: String]] = []
  private(set) var keyRequests = 0
  private var habits = Habits()
  private var nonce: String?

  func change(_ change: @Sendable (inout Habits) -> Void) { change(&habits) }

  /// The nonce that the next ID token holds.
  func see(nonce: String?) { self.nonce = nonce }

  nonisolated var fetch: Fetch {
    { request throws(FetchError) in
      do {
        return try await self.answer(request)
      } catch {
        Issue.record(error)
        throw .closed(host: request.url.host)
      }
    }
  }

  func application(capabilities: [String] = [], secret: String? = nil) throws -> Application {
    Application(
      name: "demo", authority: try Authority(Self.issuer), clientID: Self.client,
      credential: secret.map { .secret(Secret($0)) }, capabilities: capabilities, fetch: fetch)
  }

  private func answer(_ request: FetchRequest) throws -> FetchResponse {
    func json(_ status: Int, _ text: String) -> FetchResponse {
      FetchResponse(status: status, body: Array(text.utf8))
    }
    switch (request.url.target, request.method) {
    case ("/realms/demo/.well-known/openid-configuration", .get): return json(200, metadata)
    case ("/keys", .get):
      keyRequests += 1
      return json(habits.keys, JWKSet(keys: habits.hasWithdrawnKey ? [] : [try jwk()]).json.canonicalText())
    case ("/device", .post(_, let body)):
      forms.append(Self.members(body))
      return json(habits.device.status, habits.device.json)
    case ("/token", .post(_, let body)):
      forms.append(Self.members(body))
      if !habits.tokens.isEmpty {
        let next = habits.tokens.removeFirst()
        return json(next.status, next.json)
      }
      return json(200, try tokens())
    default:
      Issue.record("nothing is at \(request.url)")
      return json(404, "")
    }
  }

  private var metadata: String {
    var members: [String: JSONValue] = [
      "token_endpoint_auth_methods_supported": .array([.string("client_secret_post")]),
      "issuer": .string(Self.issuer), "token_endpoint": .string("https://id.example/token"),
      "jwks_uri": .string("https://id.example/keys"),
      "response_modes_supported": .array(habits.responseModes.map(JSONValue.string)),
    ]
    members["prompt_values_supported"] = habits.prompts.map { .array($0.map(JSONValue.string)) }
    if habits.namesIssuer { members["authorization_response_iss_parameter_supported"] = .bool(true) }
    if habits.hasAuthorization { members["authorization_endpoint"] = .string("https://id.example/authorize") }
    if habits.hasDeviceCodes { members["device_authorization_endpoint"] = .string("https://id.example/device") }
    return JSONValue.object(members).canonicalText()
  }

  private func jwk() throws -> JWK {
    let key = try Self.key.get().publicKey
    return JWK(identifier: "k1", algorithm: habits.algorithm, modulus: key.modulus, exponent: key.exponent)
  }

  private func tokens() throws -> String {
    var members: [String: JSONValue] = [
      "access_token": .string("AT-1"), "token_type": .string("Bearer"), "expires_in": .integer(3600),
      "refresh_token": .string("RT-1"),
    ]
    members["scope"] = habits.granted.map(JSONValue.string)
    members["id_token"] = try idToken().map(JSONValue.string)
    members["client_info"] = habits.clientInfo.map(JSONValue.string)
    return JSONValue.object(members).canonicalText()
  }

  func idToken() throws -> String? {
    var claims: [String: JSONValue] = [
      "iss": .string(Self.issuer), "aud": .string(Self.client), "sub": .string("ann-1"),
      "exp": .integer(Self.now.seconds + 3600), "preferred_username": .string("ann@example.org"),
    ]
    claims["nonce"] = nonce.map(JSONValue.string)
    claims.merge(habits.claims) { $1 }
    switch habits.flaw {
    case .absent: return nil
    case .garbage: return "not a token"
    case .otherNonce: claims["nonce"] = .string("another")
    case .otherIssuer: claims["iss"] = .string("https://evil.example")
    case .otherAudience: claims["aud"] = .string("client-2")
    case .expired: claims["exp"] = .integer(Self.now.seconds - 200)
    case .noSubject: claims["sub"] = nil
    case .otherKey, nil: break
    }
    let type = habits.type.map { #","typ":"\#($0)""# } ?? ""
    let header = #"{"alg":"\#(habits.algorithm.rawValue)","kid":"k1"\#(type)}"#
    let body = JSONValue.object(claims).canonicalText()
    let input = Array("\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(body.utf8)))".utf8)
    let key = try (habits.flaw == .otherKey ? Self.otherKey : Self.key).get()
    let algorithm: RSASignatureAlgorithm = habits.algorithm == .rs256 ? .rs256 : .ps256
    return SignedJWT.compact(signingInput: input, signature: try key.signature(of: input.span, algorithm)).revealed()
  }

  /// The members of a form, decoded.
  static func members(_ body: some Collection<UInt8>) -> [String: String] {
    var components = URLComponents()
    components.percentEncodedQuery = String(decoding: body, as: UTF8.self).replacing("+", with: "%20")
    var members: [String: String] = [:]
    for item in components.queryItems ?? [] { members[item.name] = item.value }
    return members
  }
}
