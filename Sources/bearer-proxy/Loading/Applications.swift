// The way from settings to what the broker is given: applications, which credential each has, how its provider is
// reached, and what a route requests from it.

import Bytes
import Configuration
import HTTP
import HTTPClient
import Identity
import Platform
import Proxy
import Tokens

extension Application {
  /// The application that a configuration describes, reached through `fetch`.
  init(
    _ settings: ApplicationSettings, credential: CredentialSource?, version: CredentialVersion = CredentialVersion(0),
    fetch: @escaping Fetch
  ) {
    self.init(
      name: settings.name, authority: settings.authority.value, clientID: settings.clientID, credential: credential,
      credentialVersion: version, capabilities: settings.clientCapabilities, trust: settings.trust, fetch: fetch)
    secretPlacement = settings.clientAuthentication
    family = settings.usesFamilyTokens ? AzureCLI.family : nil
    callback = settings.callback
    region = settings.region
    domainHint = settings.domainHint
    hasOfflineAccess = settings.hasOfflineAccess
    requiresPKCE = settings.requiresPKCE
  }

  /// The application for work on the cache alone: its provider is out of reach.
  init(offline settings: ApplicationSettings) {
    self.init(settings, credential: nil, fetch: Self.offline)
  }

  /// Reaches no provider.
  static let offline: Fetch = { request throws(FetchError) in throw .closed(host: request.url.host) }
}

extension ManagedIdentitySettings {
  /// The source of tokens, for people.
  var description: String {
    let reason = isChosen ? "chosen" : detection.evidence.isEmpty ? "default" : ""
    let words = [reason, detection.evidence.joined(separator: ", ")].filter { !$0.isEmpty }.joined(separator: ", by ")
    let host = identity.host
    return "\(identity.id.name) identity from \(host.source.rawValue) at \(host.endpoint) (\(words))"
  }
}

extension ApplicationSettings {
  /// Names what the provider is trusted by: the file of authorities and what it holds, which a reload may find changed.
  fileprivate var trust: String {
    caFile.map { "\($0.value) \(contentDigest(of: $0.value) ?? [])" } ?? ""
  }
}

extension LoadedConfiguration {
  /// The subscription to a token; nil if it is nil, or its application's. `fetch` reaches an application's provider.
  func subscription(
    of token: IssuedToken?, credentials: CredentialVersions = CredentialVersions(),
    authentication: ClientAuthenticationMemory = ClientAuthenticationMemory(), fetch: (ApplicationSettings) -> Fetch
  ) -> TokenSubscription? {
    func application(_ name: String, at authority: Authority?) -> Application? {
      settings.application(named: name).map {
        var application = Application(
          $0, credential: certificates.credential(of: $0, fetch: fetch), version: credentials[$0], fetch: fetch($0))
        application.authentication = authentication
        if let authority { application.move(to: authority) }
        application.boundCertificate = certificates.shownToUpstreams(by: $0)?.sha256
        return application
      }
    }
    guard let token, let named = application(token.application, at: token.authority) else { return nil }
    let own = token.agent.map(named.agent) ?? named
    let (scopes, parameters) = (token.scopes, token.parameters)
    switch token.subject {
    case .application, .agent(_, nil):
      return TokenSubscription(application: own, scopes: scopes, parameters: parameters)
    case .account(let account):
      return TokenSubscription(application: own, subject: .account(account), scopes: scopes, parameters: parameters)
    case .agent(_, let user?):
      return TokenSubscription(application: own, subject: .agentUser(user), scopes: scopes, parameters: parameters)
    case .caller(let grant):
      var other: Application?
      let callersGrant: CallerGrant
      switch grant {
      case .onBehalfOf: callersGrant = .onBehalfOf
      case .jwtBearer: callersGrant = .jwtBearer
      case .tokenExchange(let terms): callersGrant = .tokenExchange(terms)
      case .identityAssertion(let terms, let name):
        other = application(name, at: nil)
        callersGrant = .identityAssertion(
          terms,
          at: ResourceApplication(
            authority: other?.authority ?? own.authority, clientID: other?.clientID ?? "",
            credential: other?.credentialVersion ?? CredentialVersion(0)))
      }
      return TokenSubscription(
        application: own, subject: .caller(nil, callersGrant), scopes: scopes, parameters: parameters,
        resourceApplication: other)
    }
  }
}

extension ApplicationSettings {
  /// The endpoint that hands out its proof, if it is not its provider's.
  fileprivate var proofEndpoint: HTTPURL? {
    if case .federated(.service(let service), _)? = credential { return service.endpoint }
    return machineIdentity?.identity.host.endpoint
  }

  /// True if another issuer hands out what proves it to its provider.
  var isProvenByOthers: Bool {
    switch credential {
    case .federated?, .assertionFile?, .assertionCommand?: true
    case .secret?, .certificate?, .mutualTLS?, .managedIdentity?, nil: false
    }
  }

  /// The source of its proof, for people; nil if the configuration names all of it.
  var proofDescription: String? {
    switch credential {
    case .federated(.service(let service), let audience)?:
      "a token for \(audience) of \(service.endpoint.host) proves client_id \(clientID)"
    case .assertionFile(let file)? where !file.variables.isEmpty:
      "client_id \(clientID) of \(authority.value), proved by \(file.file.value) "
        + "(by \(file.variables.joined(separator: ", ")))"
        + (file.tokenProxy.map { "; token requests go to \($0.proxy.url)" } ?? "")
    case .assertionCommand(let command)?: "the JWT that \(command.program.value) prints proves client_id \(clientID)"
    default: machineIdentity?.description
    }
  }
}

struct CredentialVersions: Sendable {
  private struct Identity: Hashable {
    var authority: Authority
    var clientID: String
  }

  private struct Known {
    var credential: CredentialSource?
    var version: CredentialVersion
  }

  /// The credentials that are in use with a client id, or were when it was last there.
  private var known: [Identity: [Known]] = [:]
  private var counts: [Identity: UInt64] = [:]

  private var certificates = SigningCertificates.none

  /// Counts on: a credential that is not in use yet is the next.
  mutating func follow(_ applications: [ApplicationSettings], _ certificates: SigningCertificates = .none) {
    self.certificates = certificates
    for (identity, applications) in Dictionary(grouping: applications, by: Self.identity) {
      var current: [Known] = []
      for credential in applications.map({ certificates.credential(of: $0) })
      where !current.contains(where: { $0.credential == credential }) {
        if let same = known[identity]?.first(where: { $0.credential == credential }) {
          current.append(same)
          continue
        }
        let number = counts[identity, default: 0]
        counts[identity] = number + 1
        current.append(Known(credential: credential, version: CredentialVersion(number)))
      }
      known[identity] = current
    }
  }

  subscript(_ application: ApplicationSettings) -> CredentialVersion {
    let credential = certificates.credential(of: application)
    return known[Self.identity(application)]?.first { $0.credential == credential }?.version ?? CredentialVersion(0)
  }

  private static func identity(_ application: ApplicationSettings) -> Identity {
    Identity(authority: application.authority.value, clientID: application.clientID)
  }
}

/// The ways to the identity providers, each under its application's trust.
struct Providers {
  let contexts: TLSContexts
  let fetcher: Fetcher
  var tracer: Tracer?

  /// The way to an application's provider.
  func fetch(_ application: ApplicationSettings) -> Fetch {
    let choice = application.proxy
    func traced(_ fetch: @escaping Fetch) -> Fetch { tracer?.tracing(fetch) ?? fetch }
    func outward(_ tls: TLSContext?) -> Fetch { fetcher.bound(tls: tls) { url in choice.proxy(for: url) } }
    let direct = traced(outward(contexts.applications[application.name]))
    let provider = application.tokenProxy.map { binding($0, contexts.tokenProxies[application.name], direct) } ?? direct
    let endpoint = application.proofEndpoint
    guard endpoint != nil || application.region == .discovered else { return provider }
    let machine = endpoint.map { traced(self.machine($0, contexts.machines[application.name])) } ?? Application.offline
    let federation = traced(outward(contexts.federation))
    let region = Self.metadataService.map { fetcher.bound(to: $0, timeout: .seconds(2)) } ?? Application.offline
    return { request throws(FetchError) in
      switch request.destination {
      case .provider: try await provider(request)
      case .machine: try await machine(request)
      case .federation: try await federation(request)
      case .region: try await region(request)
      }
    }
  }

  /// Azure's, for the machine's region: 169.254.169.254.
  private static let metadataService = SocketAddress(literal: "169.254.169.254", port: 80)

  /// Sends token requests to the proxy of an AKS identity binding, and everything else to the provider.
  private func binding(_ settings: TokenProxySettings, _ tls: TLSContext?, _ direct: @escaping Fetch) -> Fetch {
    let proxy = settings.proxy
    let bound = fetcher.bound(tls: tls, serverName: proxy.serverName)
    let fetch = tracer?.tracing(bound) ?? bound
    return { request throws(FetchError) in
      guard case .post = request.method else { return try await direct(request) }
      var request = request
      request.url = proxy.address(for: request.url)
      return try await fetch(request)
    }
  }

  /// The way to a service of the machine. It may have an address that no upstream may have.
  private func machine(_ endpoint: HTTPURL, _ tls: TLSContext?) -> Fetch {
    guard let address = SocketAddress(literal: endpoint.connectionHost, port: endpoint.port) else {
      return fetcher.bound(tls: tls)
    }
    return fetcher.bound(to: address, tls: tls, timeout: .seconds(10))
  }
}
