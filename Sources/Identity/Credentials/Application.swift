// What the broker knows of one application: who it is, how it proves it, and how its provider is reached.

package import HTTPClient
package import Tokens

/// An application registered with a provider, as one entry of the configuration describes it.
package struct Application: Sendable {
  /// Its name in the configuration: the label of its log records and metrics.
  package var name: String
  /// The provider.
  package var authority: Authority
  /// Its id there.
  package var clientID: String
  /// What it proves itself with; nil for a public application.
  package var credential: CredentialSource?
  /// Changes whenever `credential` does.
  package var credentialVersion: CredentialVersion
  /// Where its secret is written in requests; nil is what the provider's metadata say, and after a refusal the other
  /// placement.
  package var secretPlacement: ClientSecretPlacement?
  /// What the provider has accepted of it.
  package var authentication = ClientAuthenticationMemory()
  /// What it can handle, sent as the `xms_cc` claim (`cp1`: claims challenges).
  package var capabilities: [String]
  /// Reaches the provider. It has a time limit of its own, which bounds how long callers wait.
  package var fetch: Fetch
  /// The family of Microsoft's applications whose refresh tokens it may redeem (`foci`); nil where it may not. Never a
  /// confidential application's.
  package var family: String?
  /// Where its sign-ins come back to.
  package var callback = CallbackPath.shared
  /// The region in which its own tokens are requested; nil is the provider's global endpoint.
  package var region: AzureRegionChoice?
  /// At which sign-in page people begin.
  package var domainHint: DomainHint?
  /// Whether sign-ins ask for refresh tokens. Where they do not, none is kept or used.
  package var hasOfflineAccess = true
  /// SHA-256 of the certificate that its routes show to upstreams; nil where they show none of the application's.
  package var boundCertificate: [UInt8]?
  /// Names what `fetch` trusts (a CA file, or the system's): metadata fetched under one trust is not used under
  /// another.
  package var trust: String

  /// The machine's identity whose tokens these are; nil for an application that asks its provider.
  var managedIdentity: ManagedIdentity? {
    if case .managedIdentity(let identity)? = credential { identity } else { nil }
  }

  /// Makes it the same application at another tenant.
  package mutating func move(to authority: Authority) {
    if authority != self.authority { credentialVersion.home = self.authority }
    self.authority = authority
  }

  /// The agent identity with this client id, whose blueprint this application is: an application of its own, proven by
  /// a token of the blueprint's.
  package func agent(_ clientID: String) -> Application {
    var agent = self
    agent.clientID = clientID
    agent.credential = .federated(.application(self, agent: clientID), audience: authority.exchangeAudience)
    agent.credentialVersion.blueprint = self.clientID
    agent.secretPlacement = nil
    return agent
  }

  /// Whether it proves itself in the TLS handshake.
  var showsCertificate: Bool {
    if case .mutualTLS? = credential { true } else { false }
  }

  /// An application of these parts.
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
