// The rules of signing in: which page comes next, or how it ends (OpenID Connect Core 1.0 §3.1.2.3 and §3.1.2.4), when
// a password is not enough, and what people have consented to.

internal import Bytes
internal import Tokens

enum SignInStep {
  /// Scopes that are shown for consent, per API.
  typealias Scopes = [(api: RegisteredAPI, names: [String])]

  /// User name and password. The page shows `problem`, if there is one.
  case signIn(userName: String?, problem: ProviderError?)
  /// The one-time code that `person` was sent, after the password.
  case secondFactor(Person, problem: ProviderError?)
  /// One of those who are signed in, or another person.
  case choose([Person])
  /// Consent of `person` to these scopes, as a member or guest of `tenant`.
  case consent(Person, Tenant, Scopes)
  /// Nothing more is needed.
  case finish(Person, Tenant)
  /// The application learns that it cannot be.
  case refuse(ProviderError)

  init(
    _ interaction: Interaction, _ browser: Browser, _ directory: DemoDirectory, _ consents: Consents,
    _ secondFactor: SecondFactorRule, now: UnixTime
  ) {
    let maximumAge = interaction.request?.maximumAge
    guard let person = Self.person(interaction, browser, directory) else {
      self = Self.whoIsIt(interaction, browser, directory)
      return
    }
    let isQuiet = interaction.prompts.contains(.none)
    let proof = browser.session(person.user.object)?.authentication
    if !interaction.hasTypedPassword {
      guard let proof, maximumAge.map({ now - proof.at <= $0 }) ?? true else {
        self = isQuiet ? .refuse(.signInRequired) : .signIn(userName: person.user.userName, problem: nil)
        return
      }
    }
    let tenant = DemoDirectory.isAnyTenant(interaction.segment) ? person.home : directory.tenant(interaction.segment)
    guard let tenant else {
      self = .refuse(.unknownTenant(interaction.segment))
      return
    }
    guard person.object(in: tenant) != nil else {
      let stranger = ProviderError.notInTenant(person.user.userName, tenant: tenant.displayName)
      self = isQuiet ? .refuse(stranger) : .signIn(userName: nil, problem: stranger)
      return
    }
    if secondFactor.isNeeded(person, interaction.request), proof?.isTwofold != true {
      self = isQuiet ? .refuse(.stepUpNotAskedFor) : .secondFactor(person, problem: nil)
      return
    }
    self = Self.consent(interaction, person, tenant, consents, isQuiet: isQuiet)
  }

  /// The person, if known without a question.
  private static func person(_ interaction: Interaction, _ browser: Browser, _ directory: DemoDirectory) -> Person? {
    if let chosen = interaction.person { return directory.person(object: chosen) }
    if interaction.wantsAnother || !interaction.prompts.isDisjoint(with: [.login, .selectAccount]) { return nil }
    let known = browser.signedIn.compactMap { directory.person(object: $0.person) }
    let meant = interaction.request?.loginHint.map { hint in
      known.filter { $0.user.userName.lowercased() == hint.lowercased() }
    }
    let candidates = meant ?? known
    return candidates.count == 1 ? candidates[0] : nil
  }

  /// No account was chosen, and none can be named.
  private static func whoIsIt(_ interaction: Interaction, _ browser: Browser, _ directory: DemoDirectory) -> SignInStep
  {
    let hint = interaction.request?.loginHint
    let known = browser.signedIn.compactMap { directory.person(object: $0.person) }
    if interaction.prompts.contains(.none) {
      return .refuse(hint == nil && known.count > 1 ? .severalAccounts : .signInRequired)
    }
    let choosing = interaction.prompts.contains(.selectAccount) || hint == nil
    if choosing, !known.isEmpty, !interaction.wantsAnother, !interaction.prompts.contains(.login) {
      return .choose(known)
    }
    return .signIn(userName: hint, problem: nil)
  }

  private static func consent(
    _ interaction: Interaction, _ person: Person, _ tenant: Tenant, _ consents: Consents, isQuiet: Bool
  ) -> SignInStep {
    guard let application = tenant.application(interaction.client) else {
      return .refuse(.unknownApplication(interaction.client, tenant: tenant.displayName))
    }
    let asked: RequestedScopes
    do throws(ProviderError) {
      asked = try RequestedScopes(interaction.scopes, in: tenant)
    } catch {
      return .refuse(error)
    }
    let party = Consents.Party(
      person: person.user.object, client: application.clientIdentifier, tenant: tenant.identifier)
    let missing = consents.missing(asked, party, in: tenant)
    if !missing.isEmpty, isQuiet { return .refuse(.consentNotAskedFor(application.clientIdentifier)) }
    if interaction.prompts.contains(.consent), !interaction.hasConsented {
      return .consent(person, tenant, Consents.all(asked, in: tenant))
    }
    return missing.isEmpty ? .finish(person, tenant) : .consent(person, tenant, missing)
  }
}

extension DemoDirectory {
  /// True if a tenant segment leaves the tenant to who signs in.
  static func isAnyTenant(_ segment: String) -> Bool { ["common", "organizations"].contains(segment.lowercased()) }

  /// The application that a request under `segment` means, and the tenant to read its scopes in before a person has
  /// signed in.
  func application(
    _ clientIdentifier: String, segment: String
  ) throws(ProviderError) -> (RegisteredApplication, Tenant) {
    guard Self.isAnyTenant(segment) else {
      guard let tenant = tenant(segment) else { throw .unknownTenant(segment) }
      guard let application = tenant.application(clientIdentifier) else {
        throw .unknownApplication(clientIdentifier, tenant: tenant.displayName)
      }
      return (application, tenant)
    }
    for tenant in tenants {
      if let application = tenant.application(clientIdentifier) { return (application, tenant) }
    }
    throw .unknownApplication(clientIdentifier, tenant: segment)
  }
}

/// The rule for one-time codes, and the error for an application without a person at hand.
struct SecondFactorRule {
  /// The user names, in lower case, of whom the directory asks it always.
  private let always: Set<String>

  init(_ behaviour: ProviderBehaviour) {
    always = Set(behaviour.secondFactorUsers.map { $0.lowercased() })
  }

  /// True if a sign-in of `person` needs it. Of `acr_values` only the one that there is counts; the others are wishes
  /// (OpenID Connect Core 1.0 §3.1.2.1).
  func isNeeded(_ person: Person, _ request: AuthorizationRequest?) -> Bool {
    if always.contains(person.user.userName.lowercased()) { return true }
    guard let request else { return false }
    return !request.claims.contexts.isEmpty || request.acrValues.contains(Authentication.twofold)
  }

  /// Refuses tokens to who did not bring it, with the claims of a sign-in that does.
  func check(_ person: Person, _ authentication: Authentication, _ claims: ClaimsAsked) throws(ProviderError) {
    if authentication.isTwofold { return }
    if let context = claims.contexts.first {
      throw .stepUpRequired(claims: #"{"access_token":{"acrs":{"essential":true,"value":"\#(context)"}}}"#)
    }
    if always.contains(person.user.userName.lowercased()) {
      throw .stepUpRequired(claims: Self.policy)
    }
  }

  /// Entra names the policies of Conditional Access that are not satisfied.
  static let policy =
    #"{"access_token":{"capolids":{"essential":true,"values":["c0a7050d-0000-4000-8000-0000000000e1"]}}}"#
}

/// Consents given and remembered.
struct Consents {
  /// The person, the application and the tenant.
  struct Party: Hashable {
    /// The user's `oid` at home.
    var person: String
    /// The application's `client_id`.
    var client: String
    var tenant: String
  }

  private var granted: [Party: [String: Set<String>]] = [:]

  /// The scope names of an API that `party` consented to.
  func names(_ api: String, _ party: Party) -> Set<String> { granted[party]?[api] ?? [] }

  /// The part of `asked` without consent: API client identifiers with scope names, the account's own words first.
  func missing(_ asked: RequestedScopes, _ party: Party, in tenant: Tenant) -> [(api: RegisteredAPI, names: [String])] {
    var missing: [(api: RegisteredAPI, names: [String])] = []
    let own = asked.openID.filter { !names(RequestedScopes.openID.clientIdentifier, party).contains($0) }
    if !own.isEmpty { missing.append((RequestedScopes.openID, own)) }
    for resource in asked.resources {
      guard let api = tenant.api(resource.api) else { continue }
      let held = names(resource.api, party)
      var wanted = resource.names
      if resource.isDefault, held.isEmpty { wanted = api.scopes.map(\.name) }
      let lacking = wanted.filter { !held.contains($0) }
      if !lacking.isEmpty { missing.append((api, lacking)) }
    }
    return missing
  }

  /// Everything that `asked` names, whether it was consented to before or not.
  static func all(_ asked: RequestedScopes, in tenant: Tenant) -> [(api: RegisteredAPI, names: [String])] {
    Consents().missing(asked, Party(person: "", client: "", tenant: ""), in: tenant)
  }

  mutating func grant(_ scopes: [(api: RegisteredAPI, names: [String])], _ party: Party) {
    for (api, names) in scopes { granted[party, default: [:]][api.clientIdentifier, default: []].formUnion(names) }
  }

  /// Forgets everything that a person consented to.
  mutating func withdraw(person: String) {
    granted = granted.filter { $0.key.person != person }
  }
}
