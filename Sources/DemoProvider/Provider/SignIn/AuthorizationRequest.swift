// An authorization request read from its parameters (RFC 6749 §4.1.1, OpenID Connect Core 1.0 §3.1.2.1): scopes,
// claims, and the address of its answer. SignInStep decides who may sign in, and the questions.

internal import Bytes
internal import HTTP
internal import Tokens

/// The page that the application asks for.
enum Prompt: String {
  case none, login, consent
  case selectAccount = "select_account"
}

/// The target of the answer to an authorization request. Known before anything else is believed.
struct ReplyAddress: Hashable {
  enum Mode: String {
    case query
    case formPost = "form_post"
  }

  var redirectURI: String
  var mode: Mode
  var state: String?

  /// An address that the application registered. Where it did not, nothing may be sent there.
  init(_ parameters: ReplyForm, of application: RegisteredApplication) throws(ProviderError) {
    guard let uri = parameters["redirect_uri"] else { throw .missingParameter("redirect_uri") }
    guard RedirectURIRule.allows(uri, registered: application.redirectURIs) else {
      throw .unregisteredRedirectURI(uri, application: application.clientIdentifier)
    }
    redirectURI = uri
    guard let mode = Mode(rawValue: parameters["response_mode"] ?? "query") else {
      throw .unsupportedParameter("response_mode")
    }
    self.mode = mode
    state = parameters["state"]
  }
}

struct AuthorizationRequest: Hashable {
  var address: ReplyAddress
  var scopes: [String]
  var nonce: String?
  /// The S256 challenge; a confidential application may do without.
  var challenge: String?
  var prompts: Set<Prompt>
  var loginHint: String?
  /// Seconds since the last time the password was typed, at most.
  var maximumAge: Int64?
  /// The requested authentication contexts, in order of preference.
  var acrValues: [String]
  var claims: ClaimsAsked

  init(
    _ parameters: ReplyForm, of application: RegisteredApplication, to address: ReplyAddress
  ) throws(ProviderError) {
    self.address = address
    guard let type = parameters["response_type"] else { throw .missingParameter("response_type") }
    guard type == "code" else { throw .unsupportedResponseType(type) }
    guard let scope = parameters["scope"] else { throw .missingParameter("scope") }
    scopes = scope.split(separator: " ").map(String.init)
    nonce = parameters["nonce"]
    challenge = parameters["code_challenge"]
    // Without a method, RFC 7636 §4.3 means `plain`, which proves nothing against a reader of the redirect.
    if challenge != nil, parameters["code_challenge_method"] != "S256" {
      throw .unsupportedParameter("code_challenge_method")
    }
    if challenge == nil, application.isPublic { throw .proofKeyRequired }
    prompts = []
    for word in (parameters["prompt"] ?? "").split(separator: " ") {
      guard let prompt = Prompt(rawValue: String(word)) else { throw .unsupportedParameter("prompt") }
      prompts.insert(prompt)
    }
    if prompts.contains(.none), prompts.count > 1 { throw .unsupportedParameter("prompt") }
    loginHint = parameters["login_hint"]
    maximumAge = try Self.seconds(parameters["max_age"])
    acrValues = (parameters["acr_values"] ?? "").split(separator: " ").map(String.init)
    claims = try ClaimsAsked(parameters["claims"])
  }

  private static func seconds(_ text: String?) throws(ProviderError) -> Int64? {
    guard let text else { return nil }
    guard let seconds = Int64(text), seconds >= 0 else { throw .unsupportedParameter("max_age") }
    return seconds
  }
}

/// Delegated scopes that were asked for.
struct RequestedScopes: Hashable {
  /// The scopes of one API, in the order asked for.
  struct Resource: Hashable {
    /// The API's client identifier.
    var api: String
    /// The API as it was named, for the answer's `scope`.
    var prefix: String
    /// Scope names, spelled as registered.
    var names: [String]
    /// True if `.default` was among them: everything that was consented to, or can be.
    var isDefault = false
  }

  /// OpenID Connect's words, shown on the consent page like an API's scopes.
  static let openID = RegisteredAPI(
    clientIdentifier: "openid", identifierURI: "openid", displayName: "Your account",
    scopes: [
      RegisteredAPI.Scope("openid", "Sign you in"),
      RegisteredAPI.Scope("profile", "See your name and user name"),
      RegisteredAPI.Scope("email", "See your e-mail address"),
      RegisteredAPI.Scope("offline_access", "Keep the access you give while you are away"),
    ])

  /// OpenID Connect's words among them.
  var openID: [String] = []
  /// The APIs, in order of their first mention.
  var resources: [Resource] = []

  init(_ words: [String], in tenant: Tenant) throws(ProviderError) {
    for word in words {
      if let own = Self.openID.scope(word) {
        if !openID.contains(own.name) { openID.append(own.name) }
        continue
      }
      guard let slash = word.lastIndex(of: "/") else { throw .invalidScope(word) }
      let (prefix, name) = (String(word[..<slash]), String(word[word.index(after: slash)...]))
      guard let api = tenant.api(prefix) else { throw .unknownResource(prefix, tenant: tenant.displayName) }
      let index = place(of: api, prefix)
      if name == ".default" {
        resources[index].isDefault = true
      } else {
        guard let scope = api.scope(name) else { throw .invalidScope(word) }
        if !resources[index].names.contains(scope.name) { resources[index].names.append(scope.name) }
      }
    }
  }

  private mutating func place(of api: RegisteredAPI, _ prefix: String) -> Int {
    if let known = resources.firstIndex(where: { $0.api == api.clientIdentifier }) { return known }
    resources.append(Resource(api: api.clientIdentifier, prefix: prefix, names: []))
    return resources.count - 1
  }
}

/// The claims of the access token that a request asks for.
struct ClaimsAsked: Hashable {
  /// `xms_cc`: what the application says it can do with a challenge.
  var capabilities: [String] = []
  /// `nbf`: the first second in which the token may have been issued.
  var notBefore: UnixTime?
  /// `acrs`: the authentication contexts that the token must name.
  var contexts: [String] = []

  /// Without the parameter nothing is requested.
  init(_ text: String?) throws(ProviderError) {
    guard let text else { return }
    guard let members = JSONValue(json: Array(text.utf8))?.members else { throw .unsupportedParameter("claims") }
    let claims = members["access_token"]?.members ?? [:]
    capabilities = Self.values(claims["xms_cc"])
    contexts = Self.values(claims["acrs"])
    if let value = claims["nbf"]?.members?["value"] {
      guard let seconds = value.seconds else { throw .unsupportedParameter("claims") }
      notBefore = UnixTime(seconds)
    }
    // A sign-in that cannot be satisfied would only be repeated.
    guard contexts.allSatisfy(Authentication.contexts.contains) else { throw .unsupportedParameter("claims") }
  }

  /// The beginning of the token's life: now, or the requested moment if that is at most a minute ahead.
  func start(now: UnixTime) -> UnixTime {
    guard let notBefore, now < notBefore, notBefore - now <= 60 else { return now }
    return notBefore
  }

  private static func values(_ claim: JSONValue?) -> [String] {
    guard let members = claim?.members else { return [] }
    if let value = members["value"]?.text { return [value] }
    guard case .array(let values) = members["values"] else { return [] }
    return values.compactMap(\.text)
  }
}

enum RedirectURIRule {
  /// The registered ones are compared as text. One on loopback permits every port
  /// (RFC 8252 §7.3; Entra does the same with and without TLS), and, without a path, for the one with a slash.
  static func allows(_ uri: String, registered: [String]) -> Bool {
    if registered.contains(uri) { return true }
    guard let asked = loopback(uri) else { return false }
    return registered.compactMap(loopback).contains {
      $0.scheme == asked.scheme && $0.host == asked.host && $0.target == asked.target
    }
  }

  private static func loopback(_ uri: String) -> HTTPURL? {
    do throws(HTTPURLError) {
      let url = try HTTPURL(uri)
      return url.isLoopback ? url : nil
    } catch {
      return nil
    }
  }
}
