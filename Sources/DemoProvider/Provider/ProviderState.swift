internal import Bytes
internal import Platform
internal import Tokens

/// Everything that the provider remembers between two requests. A restart forgets it.
struct ProviderState {
  /// By the value of their cookie.
  var browsers: [String: Browser] = [:]
  /// By the hidden field of their pages.
  var interactions: [String: Interaction] = [:]
  var codes: [String: Code] = [:]
  /// By device code.
  var devices: [String: Device] = [:]
  var refreshTokens: [String: RefreshToken] = [:]
  /// The newest refresh token of each family that is not revoked.
  var newestTokens: [String: String] = [:]
  var consents: Set<Consent> = []
  /// The time from which access tokens about a person's `oid` count, if it changed.
  var tokensCountFrom: [String: UnixTime] = [:]
  var behaviour: ProviderBehaviour
  /// The number of requests to each endpoint.
  var requests: [String: Int64] = [:]
}

/// A browser, known by an unguessable cookie.
struct Browser {
  /// People who typed their password there, in the order of signing in.
  var signedIn: [(person: Person, authentication: Authentication)] = []

  /// `__Host-`: set over TLS by this host for all its paths, and by no other.
  static let cookieName = "__Host-demo-browser"

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

  /// The `Set-Cookie` field's value that names it. Lax: a sign-in begins by a navigation from elsewhere.
  static func cookie(_ name: String) -> String { "\(cookieName)=\(name); Path=/; Secure; HttpOnly; SameSite=Lax" }
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
  /// The words of `scope` that were asked for.
  var scopes: [String] = []
  /// For the ID token.
  var nonce: String?
  var authentication: Authentication
}

/// An authorization code.
struct Code {
  var authorization: Authorization
  var redirectURI: String
  var challenge: String?
  var isRedeemed = false
}

/// A device that asked for a code (RFC 8628).
struct Device {
  enum Outcome {
    case pending
    case approved(Authorization)
    case declined
  }

  var userCode: String
  var application: Application
  var tenant: Tenant?
  var scopes: [String]
  var expiresAt: UnixTime
  var lastPoll: UnixTime?
  var outcome = Outcome.pending
}

/// A refresh token. Those that replace one another, and the code that they began with, are a family.
struct RefreshToken {
  var authorization: Authorization
  var family: String
}

/// A person's consent to one scope for one application.
struct Consent: Hashable {
  /// The `oid` at home.
  var person: String
  var client: String
  var tenant: String
  /// The API's `client_id`.
  var api: String
  var scope: String
}

extension ProviderState {
  /// Ends everything of a person but the access tokens.
  mutating func revokeSessions(of person: Person) {
    for name in browsers.keys { browsers[name]?.signedIn.removeAll { $0.person.object == person.object } }
    interactions = interactions.filter { $0.value.person?.object != person.object }
    codes = codes.filter { $0.value.authorization.person.object != person.object }
    for token in refreshTokens.values where token.authorization.person.object == person.object {
      newestTokens[token.family] = nil
    }
  }

  /// The scopes of an API that a person consented to.
  func scopes(of api: API, _ person: Person, _ application: Application, _ tenant: Tenant) -> [String] {
    api.scopes.map(\.name).filter { consents.contains(Consent(person, application, tenant, api, $0)) }
  }

  /// The authorization of a code, for the application that requested it (RFC 6749 §4.1.3, RFC 7636).
  mutating func redeem(
    code name: String, _ form: ReplyForm, _ application: Application
  ) throws(Refusal) -> Authorization {
    guard let code = codes[name], code.authorization.application.client == application.client else {
      throw .unknownGrant("code")
    }
    if code.isRedeemed {
      // The code was stolen: the tokens that it brought are revoked (RFC 6749 §4.1.2).
      newestTokens[name] = nil
      throw .codeUsed
    }
    // Whatever is wrong with the attempt, there is no second one.
    codes[name]?.isRedeemed = true
    guard form["redirect_uri"] == code.redirectURI else { throw .redirectURIMismatch }
    // None may come if there was no challenge: dropping it from the request would go unnoticed (RFC 9700 §2.1.1).
    guard try form["code_verifier"].map(Random.challenge) == code.challenge else { throw .proofKeyMismatch }
    return code.authorization
  }

  /// The authorization of a refresh token.
  mutating func use(refreshToken name: String, _ application: Application) throws(Refusal) -> RefreshToken {
    guard let token = refreshTokens[name], token.authorization.application.client == application.client else {
      throw .unknownGrant("refresh_token")
    }
    guard let newest = newestTokens[token.family] else { throw .sessionRevoked }
    if name != newest, behaviour.refusesReplacedTokens {
      newestTokens[token.family] = nil
      throw .refreshTokenReplaced
    }
    return token
  }

  /// The device code of a user code, which people type with or without its dash and in any letter case.
  func waitingDevice(_ typed: String?, now: UnixTime) -> String? {
    func letters(_ code: String?) -> String? { code?.uppercased().filter { $0.isASCII && $0.isLetter } }
    return devices.first { _, device in
      guard case .pending = device.outcome else { return false }
      return now < device.expiresAt && letters(device.userCode) == letters(typed)
    }?.key
  }

  /// The result of a device's poll (RFC 8628 §3.5).
  mutating func poll(device code: String, _ application: Application, now: UnixTime) throws(Refusal) -> Authorization {
    guard let device = devices[code], device.application.client == application.client else { throw .unknownDeviceCode }
    guard now < device.expiresAt else { throw .deviceCodeExpired }
    devices[code]?.lastPoll = now
    if case .declined = device.outcome { throw .declined(error: "authorization_declined") }
    if let last = device.lastPoll, now - last < behaviour.deviceInterval { throw .slowDown }
    guard case .approved(let authorization) = device.outcome else { throw .authorizationPending }
    devices[code] = nil
    return authorization
  }
}

extension Consent {
  init(_ person: Person, _ application: Application, _ tenant: Tenant, _ api: API, _ scope: String) {
    self.init(
      person: person.object, client: application.client, tenant: tenant.identifier, api: api.client, scope: scope)
  }
}

/// Random texts, and the digests of texts.
enum Random {
  /// 256 bits, in base64url.
  static func name() throws(Refusal) -> String { try Base64URL.encode(bytes(32)) }

  /// Eight consonants in two groups: easily typed, no word, 34 bits (RFC 8628 §6.1).
  static func userCode() throws(Refusal) -> String {
    let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
    let code = String(try bytes(8).map { letters[Int($0) % letters.count] })
    return "\(code.prefix(4))-\(code.suffix(4))"
  }

  /// Six digits.
  static func oneTimeCode() throws(Refusal) -> String { String(try bytes(6).map { Character("\($0 % 10)") }) }

  static func bytes(_ count: Int) throws(Refusal) -> [UInt8] {
    do throws(CryptoError) { return try RandomBytes.make(count) } catch { throw .transient }
  }

  /// The SHA-256 of a text, in base64url.
  static func challenge(_ text: String) throws(Refusal) -> String {
    do throws(CryptoError) {
      return Base64URL.encode(try SHA256.digest(of: Array(text.utf8)))
    } catch {
      throw .transient
    }
  }
}
