// One sign-in under way: its request, its progress, and the rule for what comes next (OpenID Connect Core 1.0 §3.1.2.3
// and §3.1.2.4).

internal import Bytes
internal import Tokens

/// The target of the answer to an authorization request.
struct ReplyAddress {
  var redirectURI: String
  var isFormPost: Bool
  var state: String?

  /// Throws if the application did not register the address: then nothing may be sent there.
  init(_ form: ReplyForm, of application: Application) throws(Refusal) {
    redirectURI = try form.required("redirect_uri")
    guard application.allows(redirectURI: redirectURI) else {
      throw .unregistered(redirectURI: redirectURI, of: application.client)
    }
    (isFormPost, state) = (form["response_mode"] == "form_post", form["state"])
  }
}

/// A sign-in between its first page and its last.
struct Interaction {
  var application: Application
  var tenant: Tenant?
  var scopes: [String]
  /// When the person has taken too long.
  var expiresAt: UnixTime
  /// The target of the answer; nil for a device.
  var reply: ReplyAddress?
  /// The code that a device shows.
  var userCode: String?
  /// The pages that the application asks for. For a device the person is asked who they are, and whether they mean it
  /// (RFC 8628 §5.4).
  var prompts: Set = ["select_account", "consent"]
  var loginHint: String?
  var nonce: String?
  /// The S256 challenge; a confidential application may do without.
  var challenge: String?
  /// Seconds since the last time the password was typed, at most.
  var maximumAge: Int64?
  var needsSecondFactor = false

  /// The name of the browser it began in: no other may continue it.
  var browser = ""
  /// Known by its password, or chosen.
  var person: Person?
  var hasTypedPassword = false
  var wantsAnother = false
  var hasConsented = false
  /// The one-time code that its page waits for.
  var oneTimeCode: String?

  static let lifetime: Int64 = 900
}

extension Interaction {
  /// Reads an authorization request (RFC 6749 §4.1.1, OpenID Connect Core 1.0 §3.1.2.1).
  init(
    _ form: ReplyForm, _ application: Application, _ tenant: Tenant?, _ reply: ReplyAddress, now: UnixTime
  ) throws(Refusal) {
    guard form["response_type"] == "code" else { throw .unsupportedParameter("response_type") }
    _ = try form.required("scope")
    self.init(
      application: application, tenant: tenant, scopes: form.words("scope"), expiresAt: now + Self.lifetime,
      reply: reply, prompts: Set(form.words("prompt")), loginHint: form["login_hint"]?.lowercased(),
      nonce: form["nonce"], challenge: form["code_challenge"], maximumAge: form["max_age"].flatMap { Int64($0) })
    // Without a method, RFC 7636 §4.3 means `plain`, which proves nothing against a reader of the redirect.
    guard challenge == nil || form["code_challenge_method"] == "S256" else {
      throw .unsupportedParameter("code_challenge_method")
    }
    if challenge == nil, application.isPublic { throw .missingParameter("code_challenge") }
    // Of `acr_values` only the one that there is counts; the others are wishes (OpenID Connect Core 1.0 §3.1.2.1).
    needsSecondFactor =
      try !ClaimsAsked(form["claims"]).contexts.isEmpty || form.words("acr_values").contains(Authentication.twofold)
  }

  /// True if the person may not be asked.
  var isQuiet: Bool { prompts.contains("none") }

  /// The person, if known without a question.
  private func knownPerson(_ browser: Browser) -> Person? {
    if person != nil || wantsAnother || !prompts.isDisjoint(with: ["login", "select_account"]) { return person }
    let candidates = browser.signedIn.map(\.person).filter { loginHint == nil || $0.userName == loginHint }
    return candidates.count == 1 ? candidates[0] : nil
  }

  /// The next page, or the end. Throws what the application learns of a sign-in that cannot go on.
  func step(_ directory: DemoDirectory, _ state: ProviderState, now: UnixTime) throws(Refusal) -> SignInStep {
    let browser = state.browsers[self.browser] ?? Browser()
    guard let person = knownPerson(browser) else {
      let people = browser.signedIn.map(\.person)
      if isQuiet { throw loginHint == nil && people.count > 1 ? .severalAccounts : .signInRequired }
      let mayChoose = (prompts.contains("select_account") || loginHint == nil) && !prompts.contains("login")
      return mayChoose && !people.isEmpty && !wantsAnother ? .choose(people) : .signIn(loginHint, nil)
    }
    let proof = browser.authentication(of: person)
    if !hasTypedPassword, proof.map({ maximumAge ?? .max < now - $0.at }) ?? true {
      if isQuiet { throw .signInRequired }
      return .signIn(person.userName, nil)
    }
    let tenant = tenant ?? person.home
    if person.objects[tenant.identifier] == nil {
      let stranger = Refusal.notInTenant(person.userName, tenant.name)
      if isQuiet { throw stranger }
      return .signIn(nil, stranger)
    }
    if needsSecondFactor || state.behaviour.secondFactorUsers.contains(person.userName), proof?.isTwofold != true {
      if isQuiet { throw .stepUp(claims: nil) }
      return .secondFactor(person, nil)
    }
    return try consentStep(person, tenant, directory, state)
  }

  private func consentStep(
    _ person: Person, _ tenant: Tenant, _ directory: DemoDirectory, _ state: ProviderState
  ) throws(Refusal) -> SignInStep {
    _ = try directory.application(application.client, in: tenant)
    let asked = try directory.scopes(scopes)
    func lacking(_ held: (API) -> [String]) -> SignInStep.Scopes {
      asked.map { ($0.api, $0.missing(beside: held($0.api))) }.filter { !$0.1.isEmpty }
    }
    let missing = lacking { state.scopes(of: $0, person, application, tenant) }
    if !missing.isEmpty, isQuiet { throw .consentRequired(application.client, error: "consent_required") }
    if prompts.contains("consent"), !hasConsented { return .consent(person, tenant, lacking { _ in [] }) }
    return missing.isEmpty ? .finish(person, tenant) : .consent(person, tenant, missing)
  }
}

/// The next page of a sign-in, or its end.
enum SignInStep {
  /// Scopes that are shown for consent, per API.
  typealias Scopes = [(api: API, names: [String])]

  /// User name and password. Both this and the next show the problem with what was typed before.
  case signIn(_ userName: String?, _ problem: Refusal?)
  /// The one-time code, after the password.
  case secondFactor(Person, _ problem: Refusal?)
  /// One of those who are signed in, or another person.
  case choose([Person])
  case consent(Person, Tenant, Scopes)
  case finish(Person, Tenant)
}
