import HTTP
import Tokens

/// An application's place among the others, and its settings if they are right.
struct DecodedApplication {
  let order: Int
  let settings: ApplicationSettings?
}

extension SettingsDecoder {
  mutating func decodeApplications(_ file: Section) {
    for (order, element) in namedSections(file, .applications).enumerated() {
      let settings = element.section.flatMap { application($0, name: element.name) }
      applications[element.name] = DecodedApplication(order: order, settings: settings)
    }
    for application in applications.values.compactMap(\.settings) { reportProof(of: application) }
  }

  /// Reports an application that cannot prove another one: it is missing, or that one itself proves it.
  private mutating func reportProof(of application: ApplicationSettings) {
    guard let name = application.provingApplication else { return }
    guard let known = applications[name.value] else {
      report(
        name, "there is no application '\(name.value)'",
        suggestion: nearestWord(to: name.value, among: applications.keys.sorted()))
      return
    }
    if let other = known.settings, !other.isConfidential {
      report(name, "application '\(name.value)' has no credential, so it has no tokens of its own")
    }
    var names = [application.name]
    var next: String? = name.value
    while let name = next {
      if let start = names.firstIndex(of: name) {
        let chain = (names[start...] + [name]).joined(separator: ", ")
        guard start == 0, let reference = application.provingApplication else { return }
        report(reference, "applications prove one another in a circle: \(chain)")
        return
      }
      names.append(name)
      next = applications[name]?.settings?.provingApplication?.value
    }
  }

  private mutating func application(_ section: Section, name: String) -> ApplicationSettings? {
    if member(section, .credential, .managedIdentity) != nil {
      return managedApplication(section, credential(section, at: nil), name: name)
    }
    let pod = member(section, .credential, .workloadIdentity)
    let workload = pod.flatMap { workloadIdentity(at: $0.place, path: $0.value.key) }
    if pod != nil, workload == nil {
      _ = credential(section, at: nil)
      return nil
    }
    let authority = self.authority(section, workload)
    let credential = self.credential(section, at: authority?.value, workload)
    let clientID = self.clientID(section, workload)
    let authentication = choice(section, .clientAuthentication, of: ClientSecretPlacement.self)
    let caFile = self.section(section, .tls).flatMap { readableFile($0, .caFile) }
    let capabilities = (list(section, .clientCapabilities) ?? []).map(\.text)
    let usesFamilyTokens = boolean(section, .familyTokens)
    let proxy = proxyChoice(section)
    reportNeedlessAuthentication(section)
    let displayName = displayName(section)
    let redirectURI = choice(section, .redirectURI, of: RedirectURIChoice.self)
    if usesFamilyTokens { reportStranger(section, clientID) }
    let region = region(section, authority?.value)
    let domainHint = domainHint(section, authority?.value)
    let hasOfflineAccess = boolean(section, .offlineAccess)
    if usesFamilyTokens, !hasOfflineAccess, let node = section[.offlineAccess] {
      report(node, "false contradicts 'family_tokens', which are refresh tokens")
    }
    guard let authority, let clientID else { return nil }
    // A credential that could not be had was reported; to its routes the application is not a public client.
    if credential == nil, section.first(of: Key.credentials) != nil { return nil }
    var settings = ApplicationSettings(
      name: name, displayName: displayName, authority: authority, clientID: clientID, credential: credential,
      clientAuthentication: authentication, caFile: caFile, clientCapabilities: capabilities,
      usesFamilyTokens: usesFamilyTokens, proxy: proxy, redirectURI: redirectURI)
    (settings.region, settings.domainHint, settings.hasOfflineAccess) = (region, domainHint, hasOfflineAccess)
    settings.requiresPKCE = boolean(section, .requirePKCE)
    return settings
  }

  /// The region for an application's own tokens. `auto` takes it from the environment or the machine.
  private mutating func region(_ section: Section, _ authority: Authority?) -> AzureRegionChoice? {
    guard let scalar = scalar(section, .azureRegion) else { return nil }
    if let authority, !authority.hasRegions {
      report(scalar, that: "is for Microsoft Entra's hosts; \(authority.url.host) has no regions")
    }
    if section.first(of: Key.credentials) == nil {
      report(scalar, that: "needs a credential: regions serve an application's own tokens alone")
    }
    if scalar.text == "auto" { return .automatic(environment: environment) }
    if let region = AzureRegion(scalar.text) { return .named(region) }
    return refuse(scalar, that: "is auto or a region such as westeurope, not '\(scalar.written)'")
  }

  private mutating func domainHint(_ section: Section, _ authority: Authority?) -> DomainHint? {
    guard let scalar = scalar(section, .domainHint) else { return nil }
    if let authority, !authority.takesDomainHints {
      report(scalar, that: "is for Microsoft's providers; \(authority.url.host) knows no domain_hint")
    }
    if let hint = DomainHint(scalar.text) { return hint }
    return refuse(scalar, that: "is a domain such as contoso.com, organizations or consumers, not '\(scalar.written)'")
  }

  /// A machine's identity is registered nowhere: the machine's service says who it is.
  private mutating func managedApplication(
    _ section: Section, _ credential: CredentialSettings?, name: String
  ) -> ApplicationSettings? {
    let displayName = displayName(section)
    let own = Set(section.shape.rows.map { section.path($0.key) })
    standards.removeAll { own.contains($0.key) }
    var known: [Key] = [.credential, .displayName]
    // Service Fabric's service alone tells them to the provider.
    if case .managedIdentity(let settings)? = credential, settings.identity.host.source == .serviceFabric {
      known.append(.clientCapabilities)
    }
    let capabilities = (list(section, .clientCapabilities) ?? []).map(\.text)
    for key in section.shape.rows.map(\.key) where !known.contains(key) {
      guard !Key.credentials.contains(key), let node = section[key] else { continue }
      report(node, that: "has no meaning with a managed identity, which asks no provider")
    }
    guard case .managedIdentity(let settings)? = credential,
      let authority = section[.credential]?.located(Authority.managedIdentity(settings.identity.host.source))
    else { return nil }
    return ApplicationSettings(
      name: name, displayName: displayName, authority: authority,
      clientID: settings.identity.id.name, credential: credential, clientAuthentication: nil, caFile: nil,
      clientCapabilities: capabilities, usesFamilyTokens: false, proxy: .none, redirectURI: nil)
  }

  /// The place of a secret in requests matters only to an application that has one.
  private mutating func reportNeedlessAuthentication(_ section: Section) {
    guard let node = section[.clientAuthentication], section.first(of: [.clientSecret, .clientSecretFile]) == nil,
      member(section, .credential, .secret) == nil
    else { return }
    report(node, that: "needs 'client_secret' or 'client_secret_file' beside it")
  }

  /// Another application's refresh tokens are no business of one that is in no family with it.
  private mutating func reportStranger(_ section: Section, _ clientID: String?) {
    guard let node = section[.familyTokens], let clientID else { return }
    guard clientID.lowercased() != AzureCLI.clientID || section.first(of: Key.credentials) != nil else { return }
    report(node, that: "is for Azure CLI's client_id alone (\(AzureCLI.clientID)), without a secret")
  }

  private mutating func clientID(_ section: Section, _ workload: WorkloadIdentity?) -> String? {
    if let clientID = workload?.clientID, section.members[.clientID] == nil { return clientID }
    return requiredScalar(section, .clientID)?.text
  }

  /// - Parameter workload: gives it if the section does not.
  mutating func authority(_ section: Section, _ workload: WorkloadIdentity? = nil) -> Located<Authority>? {
    var found: Scalar?
    if let text = workload?.authority, section.members[.authority] == nil {
      let place = section[.credential]?.place ?? section.place
      found = Scalar(text: text, written: text, place: place, key: "\(section.path): AZURE_AUTHORITY_HOST")
    }
    guard let scalar = found ?? requiredScalar(section, .authority) else { return nil }
    if let copied = CopiedEndpoint(scalar.text) {
      return refuse(scalar, "'\(scalar.written)' is \(copied.what), not the authority", suggestion: copied.authority)
    }
    do throws(AuthorityError) {
      let authority = try Authority(scalar.text)
      guard isMetadataService(host: authority.url.host) else { return scalar.located(authority) }
      return refuse(scalar, "\(authority.url.host) hands out this machine's cloud credentials and is never a provider")
    } catch {
      return refuse(scalar, reason(error, written: scalar.written))
    }
  }

  func reason(_ error: AuthorityError, written: String) -> String {
    switch error {
    case .url(let error): urlReason(error, written: written)
    case .plaintext: "the client secret would travel in clear to '\(written)'; http: is for a loopback address only"
    case .query: "'\(written)' has a query; an issuer has none: remove it"
    case .tenantMissing: "'\(written)' names no tenant: add its id or domain to the path"
    case .tenant(let tenant): "'\(tenant)' is not a tenant: neither an id, nor a domain"
    case .retired(let host): "\(host) was Microsoft's cloud in Germany, which was closed in 2021: its tenants are gone"
    }
  }

  mutating func url(_ scalar: Scalar) -> HTTPURL? {
    do throws(HTTPURLError) {
      return try HTTPURL(scalar.text)
    } catch {
      return refuse(scalar, urlReason(error, written: scalar.written))
    }
  }

  func urlReason(_ error: HTTPURLError, written: String) -> String {
    switch error {
    case .scheme: "'\(written)' begins neither with https:// nor with http://: write the whole URL"
    case .userInformation: "a URL here has no user name and no password in it: remove them"
    case .host: "'\(written)' has no host that could be looked up"
    case .numericHost:
      "'\(written)' has a number as its host: write an address as four decimal numbers, or the host's name"
    case .port: "'\(written)' has a port that is not a number from 1 to 65535"
    case .path: "'\(written)' has a fragment, a blank or a non-ASCII character"
    }
  }
}
