// One sign-in under way: its request, its progress, and the rule for what comes next (OpenID Connect Core 1.0 §3.1.2.3
// and §3.1.2.4).

internal import Bytes
internal import Tokens

/// A sign-in between its first page and its last.
struct Interaction {
  let application: Application
  let tenant: Tenant?
  /// The application's request, or the device's.
  let request: ReplyForm
  /// When the person has taken too long.
  let expiresAt: UnixTime
  /// The code that a device shows; nil if the answer goes to the application's redirect URI.
  var userCode: String?
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

  /// The pages that the application asks for. For a device the person is asked who they are, and whether they mean it
  /// (RFC 8628 §5.4).
  var prompts: Set<String> { userCode == nil ? Set(request.words("prompt")) : ["select_account", "consent"] }
  var loginHint: String? { userCode == nil ? request["login_hint"]?.lowercased() : nil }

  /// A page; or the refusal, if the person may not be asked.
  fileprivate func ask(_ page: SignInStep, or refusal: Refusal) throws(Refusal) -> SignInStep {
    if prompts.contains("none") { throw refusal }
    return page
  }

  /// The person, if known without a question.
  fileprivate func knownPerson(_ browser: Browser) -> Person? {
    if person != nil || wantsAnother || !prompts.isDisjoint(with: ["login", "select_account"]) { return person }
    let candidates = browser.people.filter { loginHint == nil || $0.userName == loginHint }
    return candidates.count == 1 ? candidates[0] : nil
  }
}

/// The next page of a sign-in, or its end.
enum SignInStep {
  /// User name and password. Both this and the next show the problem with what was typed before.
  case signIn(_ userName: String?, _ problem: Refusal?)
  /// The one-time code, after the password.
  case secondFactor(Person, _ problem: Refusal?)
  /// One of those who are signed in, or another person.
  case choose([Person])
  /// The scopes of each API that are shown for consent.
  case consent(Person, Tenant, [(api: API, names: [String])])
  case finish(Person, Tenant)
}

extension ProviderCall {
  /// Reads an authorization request (RFC 6749 §4.1.1, OpenID Connect Core 1.0 §3.1.2.1).
  func interaction(_ form: ReplyForm, _ application: Application) throws(Refusal) -> Interaction {
    guard form["response_type"] == "code" else { throw .unsupportedParameter("response_type") }
    _ = try form.required("scope")
    // Without a method, RFC 7636 §4.3 means `plain`, which proves nothing against a reader of the redirect. A
    // confidential application may do without a challenge.
    guard form["code_challenge"] == nil || form["code_challenge_method"] == "S256" else {
      throw .unsupportedParameter("code_challenge_method")
    }
    if application.isPublic { _ = try form.required("code_challenge") }
    var interaction = Interaction(
      application: application, tenant: tenant, request: form, expiresAt: now + Interaction.lifetime)
    // Of `acr_values` only the one that there is counts; the others are wishes (OpenID Connect Core 1.0 §3.1.2.1).
    interaction.needsSecondFactor =
      try !ClaimsAsked(form["claims"]).contexts.isEmpty || form.words("acr_values").contains(Authentication.twofold)
    return interaction
  }

  /// The next page, or the end. Throws what the application learns of a sign-in that cannot go on.
  func step(of interaction: Interaction) throws(Refusal) -> SignInStep {
    let (application, prompts, loginHint) = (interaction.application, interaction.prompts, interaction.loginHint)
    let browser = state.browsers[interaction.browser] ?? Browser()
    guard let person = interaction.knownPerson(browser) else {
      let people = browser.people
      let mayChoose = (prompts.contains("select_account") || loginHint == nil) && !prompts.contains("login")
      let severalAccounts = Refusal.request(
        16000, "Several accounts are signed in and none was named, and prompt=none was sent.",
        error: "interaction_required")
      return try interaction.ask(
        mayChoose && !people.isEmpty && !interaction.wantsAnother ? .choose(people) : .signIn(loginHint, nil),
        or: loginHint == nil && people.count > 1 ? severalAccounts : .signInRequired)
    }
    let proof = browser.authentication(of: person)
    let maximumAge = interaction.request["max_age"].flatMap { Int64($0) } ?? .max
    if !interaction.hasTypedPassword, proof.map({ maximumAge < now - $0.at }) ?? true {
      return try interaction.ask(.signIn(person.userName, nil), or: .signInRequired)
    }
    let tenant = interaction.tenant ?? person.home
    if person.objects[tenant.identifier] == nil {
      let stranger = Refusal.notInTenant(person.userName, tenant.name)
      return try interaction.ask(.signIn(nil, stranger), or: stranger)
    }
    let needsCode = interaction.needsSecondFactor || state.behaviour.secondFactorUsers.contains(person.userName)
    if needsCode, proof?.isTwofold != true {
      return try interaction.ask(.secondFactor(person, nil), or: .stepUp(claims: nil))
    }
    _ = try directory.application(application.client, in: tenant)
    let asked = try directory.scopes(interaction.request.words("scope"))
    func lacking(_ held: (API) -> [String]) -> [(api: API, names: [String])] {
      asked.map { ($0.api, $0.missing(beside: held($0.api))) }.filter { !$0.1.isEmpty }
    }
    let missing = lacking { state.scopes(of: $0, person, application, tenant) }
    if missing.isEmpty, !prompts.contains("consent") || interaction.hasConsented { return .finish(person, tenant) }
    let shown = prompts.contains("consent") && !interaction.hasConsented ? lacking { _ in [] } : missing
    return try interaction.ask(
      .consent(person, tenant, shown), or: .consentRequired(application.client, error: "consent_required"))
  }
}
