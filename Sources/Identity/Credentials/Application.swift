package import HTTPClient
package import Tokens

struct ApplicationName: Hashable {
  var authority: Authority
  var clientID: String
}

/// An application registered with a provider, as in one entry of the configuration.
package struct Application: Sendable {
  /// Its name in the configuration: the label of its log records and metrics.
  package var name: String
  package var authority: Authority
  package var clientID: String
  /// Its proof; nil for a public application.
  package var credential: CredentialSource?
  /// Changes whenever `credential` does.
  package var credentialVersion: CredentialVersion
  /// The place of its secret in requests; nil is the metadata's choice, and after a refusal the other placement.
  package var secretPlacement: ClientSecretPlacement?
  /// The proofs that the provider has accepted of it.
  package var authentication = ClientAuthenticationMemory()
  /// Its capabilities, sent as the `xms_cc` claim (`cp1`: claims challenges).
  package var capabilities: [String]
  /// Sends requests to the provider. It has a time limit of its own, which bounds the wait of callers.
  package var fetch: Fetch
  /// The family of Microsoft's public applications whose refresh tokens it may redeem (`foci`); nil: none.
  package var family: String?
  /// The path to which its sign-ins return.
  package var callback = CallbackPath.shared
  /// The region in which its own tokens are requested; nil is the provider's global endpoint.
  package var region: AzureRegionChoice?
  /// The sign-in page at which people begin.
  package var domainHint: DomainHint?
  /// True if sign-ins request refresh tokens. Otherwise none is kept or used.
  package var hasOfflineAccess = true
  /// True if people sign in only at a provider whose metadata promise PKCE.
  package var requiresPKCE = false
  /// SHA-256 of the certificate that its routes show to upstreams; nil if they show none of the application's.
  package var boundCertificate: [UInt8]?
  /// Names the trust of `fetch`, a CA file or the system's: metadata is used under one trust only.
  package var trust: String

  /// The machine's identity whose tokens these are; nil for an application that asks its provider.
  var managedIdentity: ManagedIdentity? {
    if case .managedIdentity(let identity)? = credential { identity } else { nil }
  }

  var registration: ApplicationName { ApplicationName(authority: authority, clientID: clientID) }

  /// Makes it the same application at another tenant.
  package mutating func move(to authority: Authority) {
    if authority != self.authority { credentialVersion.home = self.authority }
    self.authority = authority
  }

  /// The agent identity with this client id, which is proven by a token of this application, its blueprint.
  package func agent(_ clientID: String) -> Application {
    var agent = self
    agent.clientID = clientID
    agent.credential = .federated(.application(self, agent: clientID), audience: authority.exchangeAudience)
    agent.credentialVersion.blueprint = self.clientID
    agent.secretPlacement = nil
    return agent
  }

  /// True if it proves itself in the TLS handshake.
  var showsCertificate: Bool {
    if case .mutualTLS? = credential { true } else { false }
  }

  package init(
    name: String, authority: Authority, clientID: String, credential: CredentialSource?,
    credentialVersion: CredentialVersion = CredentialVersion(0), capabilities: [String] = [], trust: String = "",
    fetch: @escaping Fetch
  ) {
    self.name = name
    self.authority = authority
    self.clientID = clientID
    self.credential = credential
    self.credentialVersion = credentialVersion
    self.capabilities = capabilities
    self.trust = trust
    self.fetch = fetch
  }
}
