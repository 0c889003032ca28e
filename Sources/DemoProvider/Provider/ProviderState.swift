internal import Bytes
internal import Platform
internal import Tokens

/// Everything that the provider remembers between two requests. A restart forgets it. The provider's lock guards it.
final class ProviderState {
  /// By the value of their cookie.
  var browsers: [String: Browser] = [:]
  /// By the hidden field of their pages.
  var interactions: [String: Interaction] = [:]
  /// By authorization code.
  var codes: [String: (authorization: Authorization, isRedeemed: Bool)] = [:]
  /// The sign-ins that devices asked for (RFC 8628), and their ends, by device code.
  var devices: [String: (signIn: Interaction, lastPoll: UnixTime?, outcome: Result<Authorization, Refusal>?)] = [:]
  /// Refresh tokens. Those that replace one another, and the code that they began with, are a family.
  var refreshTokens: [String: (authorization: Authorization, family: String)] = [:]
  /// The newest refresh token of each family that is not revoked.
  var newestTokens: [String: String] = [:]
  /// Person, application, tenant, API and scope, by their identifiers.
  var consents: Set<[String]> = []
  /// The time from which access tokens about a person's `oid` count, if it changed.
  var tokensCountFrom: [String: UnixTime] = [:]
  var behaviour: ProviderBehaviour
  /// The number of requests to each endpoint.
  var requests: [String: Int64] = [:]

  init(_ behaviour: ProviderBehaviour) { self.behaviour = behaviour }
}

/// A browser, known by an unguessable cookie.
struct Browser {
  /// People who typed their password there, in the order of signing in.
  var signedIn: [(person: Person, authentication: Authentication)] = []

  /// `__Host-`: set over TLS by this host for all its paths, and by no other.
  static let cookieName = "__Host-demo-browser"

  var people: [Person] { signedIn.map(\.person) }

  func authentication(of person: Person) -> Authentication? {
    signedIn.first { $0.person.object == person.object }?.authentication
  }

  mutating func signIn(_ person: Person, _ authentication: Authentication) {
    signedIn.removeAll { $0.person.object == person.object }
    signedIn.append((person, authentication))
  }

  /// The browser's name in a `Cookie` field.
  static func name(inCookies field: String?) -> String? {
    (field ?? "").split(separator: ";").map { $0.drop { $0 == " " } }.first { $0.hasPrefix("\(cookieName)=") }
      .map { String($0.dropFirst(cookieName.count + 1)) }
  }
}

/// A person's proof.
struct Authentication {
  /// When the password was typed.
  var at: UnixTime
  /// True if a one-time code was typed too.
  var isTwofold = false

  /// The authentication contexts that the code is good for.
  static let contexts = ["c1"]
  /// `acr` of people who typed the code.
  static let twofold = "mfa"
}

/// A person's authorization of an application.
struct Authorization {
  var person: Person
  var tenant: Tenant
  var application: Application
  /// The request that began the sign-in; nil if another token proves the person.
  var request: ReplyForm?
  var authentication: Authentication

  /// The words of `scope` that were asked for.
  var scopes: [String] { request?.words("scope") ?? [] }
}

extension ProviderState {
  /// Ends everything of a person but the access tokens.
  func revokeSessions(of person: Person) {
    for name in browsers.keys { browsers[name]?.signedIn.removeAll { $0.person.object == person.object } }
    interactions = interactions.filter { $0.value.person?.object != person.object }
    codes = codes.filter { $0.value.authorization.person.object != person.object }
    for token in refreshTokens.values where token.authorization.person.object == person.object {
      newestTokens[token.family] = nil
    }
  }

  /// The scopes of an API that a person consented to.
  func scopes(of api: API, _ person: Person, _ application: Application, _ tenant: Tenant) -> [String] {
    api.scopes.map(\.name).filter {
      consents.contains([person.object, application.client, tenant.identifier, api.client, $0])
    }
  }

  /// The authorization of a code, for the application that requested it (RFC 6749 §4.1.3, RFC 7636).
  func redeem(code name: String, _ form: ReplyForm, _ application: Application) throws(Refusal) -> Authorization {
    guard let (authorization, isRedeemed) = codes[name], authorization.application.client == application.client else {
      throw .unknownGrant("code")
    }
    if isRedeemed {
      // The code was stolen: the tokens that it brought are revoked (RFC 6749 §4.1.2).
      newestTokens[name] = nil
      throw .grant(54005, "OAuth2 Authorization code was already redeemed.")
    }
    // Whatever is wrong with the attempt, there is no second one.
    codes[name]?.isRedeemed = true
    guard form["redirect_uri"] == authorization.request?["redirect_uri"] else {
      throw .grant(500_112, "The reply address is not the one that requested the code.")
    }
    // None may come if there was no challenge: dropping it from the request would go unnoticed (RFC 9700 §2.1.1).
    guard try form["code_verifier"].map(Random.challenge) == authorization.request?["code_challenge"] else {
      throw .grant(501_481, "The Code_Verifier does not match the code_challenge.")
    }
    return authorization
  }

  /// The authorization of a refresh token, and its family.
  func use(
    refreshToken name: String, _ application: Application
  ) throws(Refusal) -> (authorization: Authorization, family: String) {
    guard let token = refreshTokens[name], token.authorization.application.client == application.client else {
      throw .unknownGrant("refresh_token")
    }
    guard let newest = newestTokens[token.family] else {
      let reason = "The provided grant has expired due to it being revoked, a fresh auth token is needed."
      throw .grant(50173, reason, suberror: "bad_token")
    }
    if name != newest, behaviour.refusesReplacedTokens {
      newestTokens[token.family] = nil
      let reason = "The refresh token has been replaced by a newer one and must not be used again."
      throw .grant(70000, reason, suberror: "bad_token")
    }
    return token
  }

  /// The device code of a user code, which people type with or without its dash and in any letter case.
  func waitingDevice(_ typed: String?, now: UnixTime) -> String? {
    func letters(_ code: String?) -> String? { code?.uppercased().filter { $0.isASCII && $0.isLetter } }
    return devices.first { _, device in
      device.outcome == nil && now < device.signIn.expiresAt && letters(device.signIn.userCode) == letters(typed)
    }?.key
  }

  /// The result of a device's poll (RFC 8628 §3.5).
  func poll(device code: String, _ application: Application, now: UnixTime) throws(Refusal) -> Authorization {
    guard let device = devices[code], device.signIn.application.client == application.client else {
      throw .request(70018, "The verification code is not valid.", error: "bad_verification_code")
    }
    guard now < device.signIn.expiresAt else {
      throw .request(70020, "The device code has expired.", error: "expired_token")
    }
    devices[code]?.lastPoll = now
    if case .failure(let refusal) = device.outcome { throw refusal }
    if let last = device.lastPoll, now - last < behaviour.deviceInterval {
      throw .request(70016, "The device asks too often.", error: "slow_down")
    }
    guard case .success(let authorization) = device.outcome else {
      throw .request(70016, "Pending end-user authorization.", error: "authorization_pending")
    }
    devices[code] = nil
    return authorization
  }
}

/// Random texts, and the digests of texts.
enum Random {
  /// 256 bits, in base64url.
  static func name() throws(Refusal) -> String { try Base64URL.encode(bytes(32)) }

  /// So many of `characters`.
  static func text(_ count: Int, of characters: String) throws(Refusal) -> String {
    let characters = Array(characters)
    return String(try bytes(count).map { characters[Int($0) % characters.count] })
  }

  static func bytes(_ count: Int) throws(Refusal) -> [UInt8] { try mapping(Refusal.transient, RandomBytes.make(count)) }

  /// The SHA-256 of a text, in base64url.
  static func challenge(_ text: String) throws(Refusal) -> String {
    Base64URL.encode(try mapping(Refusal.transient, SHA256.digest(of: Array(text.utf8))))
  }
}

/// The provider's settings, which may change while it runs.
package struct ProviderBehaviour: Sendable {
  /// Seconds for which an access token is valid.
  package var accessTokenLifetime: Int64 = 3600
  /// Seconds after which an access token should be renewed, if the provider says so.
  var refreshIn: Int64?
  /// True if a refresh token that has been replaced is refused and ends its family. Entra tolerates it.
  package var refusesReplacedTokens = false
  /// Seconds between two polls of a device.
  package var deviceInterval: Int64 = 5
  /// User names of people who must type a one-time code, whatever they sign in to.
  var secondFactorUsers: Set<String> = []
  /// The next answers of the token endpoint.
  private var failure: (refusal: Refusal, times: Int64)?

  package init() {}

  /// Each member that the document leaves out has its usual value.
  init(_ members: [String: JSONValue]) {
    accessTokenLifetime = members["access_token_lifetime"]?.seconds ?? accessTokenLifetime
    refreshIn = members["refresh_in"]?.seconds
    refusesReplacedTokens = members["refuse_replaced"] == .bool(true)
    deviceInterval = members["device_interval"]?.seconds ?? deviceInterval
    secondFactorUsers = Set((members["second_factor"]?.texts ?? []).map { $0.lowercased() })
    guard let fail = members["fail"]?.members else { return }
    failure = (
      Refusal(
        code: Int(fail["code"]?.seconds ?? 0), message: "This failure was ordered.", error: fail["error"]?.text ?? "",
        status: Int(fail["status"]?.seconds ?? 400), suberror: fail["suberror"]?.text, claims: fail["claims"]?.text),
      fail["times"]?.seconds ?? 1
    )
  }

  /// Throws the failure that was ordered for this request.
  mutating func fail() throws(Refusal) {
    guard let ordered = failure, ordered.times > 0 else { return }
    failure?.times -= 1
    throw ordered.refusal
  }
}
