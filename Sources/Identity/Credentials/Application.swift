// Owns what the broker knows of one application: who it is, how it proves it, and how its provider is reached.

public import HTTPClient
public import Tokens

/// An application registered with a provider, as one entry of the configuration describes it.
public struct Application: Sendable {
  /// Its name in the configuration: the label of its log records and metrics.
  public var name: String
  /// The provider.
  public var authority: Authority
  /// Its id there.
  public var clientID: String
  /// Its proof; nil for a public application.
  public var credential: ClientCredential?
  /// A file that holds its proof, a JWT, in the place of `credential`.
  public var assertionPath: String?
  /// Changes whenever `credential` does.
  public var credentialVersion: CredentialVersion
  /// Where its secret is written in requests; nil is what the provider's metadata say, and after a refusal the other placement.
  public var secretPlacement: ClientSecretPlacement?
  /// What the provider has accepted of it.
  public var authentication = ClientAuthenticationMemory()
  /// What it can handle, sent as the `xms_cc` claim (`cp1`: claims challenges).
  public var capabilities: [String]
  /// Reaches the provider. It has a time limit of its own, which bounds how long callers wait.
  public var fetch: Fetch
  /// The family of Microsoft's applications whose refresh tokens it may redeem (`foci`); nil is none. Never a confidential one's.
  public var family: String?
  /// Where its sign-ins come back to.
  public var callback = CallbackPath.shared
  /// Names what `fetch` trusts (a CA file, or the system's): metadata fetched under one trust is not used under another.
  public var trust: String

  /// An application of these parts.
  public init(
    name: String, authority: Authority, clientID: String, credential: ClientCredential?,
    credentialVersion: CredentialVersion = CredentialVersion(0), capabilities: [String] = [], trust: String = "",
    assertionPath: String? = nil, fetch: @escaping Fetch
  ) {
    self.name = name
    self.authority = authority
    self.clientID = clientID
    self.credential = credential
    self.assertionPath = assertionPath
    self.credentialVersion = credentialVersion
    self.capabilities = capabilities
    self.trust = trust
    self.fetch = fetch
  }

  /// What to prove itself with now.
  func proof() async throws(AcquisitionFailure) -> ClientCredential? {
    guard let assertionPath else { return credential }
    do throws(ClientAssertionError) {
      return .assertion(try await ClientAssertionFile(path: assertionPath).read())
    } catch {
      throw .assertion(error)
    }
  }
}
