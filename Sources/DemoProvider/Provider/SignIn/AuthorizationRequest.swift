// Owns an authorization request read from its parameters (RFC 6749 §4.1.1, OpenID Connect Core 1.0 §3.1.2.1). Who may
// sign in, and what they are asked, is `SignInStep`'s.

internal import Tokens

/// What the application wants the user to see.
enum Prompt: String {
  case none, login, consent
  case selectAccount = "select_account"
}

/// Where the answer to an authorization request goes. Known before anything else is believed.
struct ReplyAddress: Hashable {
  /// How it gets there.
  enum Mode: String {
    case query
    case formPost = "form_post"
  }

  var redirectURI: String
  var mode: Mode
  var state: String?

  /// An address that the application registered. Where it did not, nothing may be sent there.
  init(_ parameters: FormFields, of application: RegisteredApplication) throws(ProviderError) {
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

/// A request for an authorization code.
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
  /// How sure the application wants to be of the person, in order of preference.
  var acrValues: [String]
  /// What the token is to say.
  var claims: ClaimsAsked

  init(
    _ parameters: FormFields, of application: RegisteredApplication, to address: ReplyAddress
  ) throws(ProviderError) {
    self.address = address
    guard let type = parameters["response_type"] else { throw .missingParameter("response_type") }
    guard type == "code" else { throw .unsupportedResponseType(type) }
    guard let scope = parameters["scope"] else { throw .missingParameter("scope") }
    scopes = scope.split(separator: " ").map(String.init)
    nonce = parameters["nonce"]
    challenge = parameters["code_challenge"]
    // Without a method, RFC 7636 §4.3 means `plain`, which proves nothing to whoever reads the redirect.
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
