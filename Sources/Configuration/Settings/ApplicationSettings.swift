// The settings of an application: its authority, its credential, and its sign-ins.

package import Bytes
package import Tokens

/// An application as registered with its identity provider.
package struct ApplicationSettings: Sendable, Hashable {
  /// The name by which routes refer to it.
  package let name: String
  /// The name that people read.
  package let displayName: String?
  /// The identity provider.
  package let authority: Located<Authority>
  package let clientID: String
  /// Its credential; nil for a public client.
  package let credential: CredentialSettings?
  /// The place of the client secret in requests; nil: as the provider's metadata say.
  package let clientAuthentication: ClientSecretPlacement?
  /// A PEM file of certification authorities for the identity provider, instead of the system's.
  package let caFile: Located<String>?
  /// Client capabilities announced in token requests (`xms_cc`), such as `cp1`.
  package let clientCapabilities: [String]
  /// True if refresh tokens of other applications of Azure CLI's family can be used, too.
  package let usesFamilyTokens: Bool
  /// The way to the identity provider.
  package let proxy: ProxyChoice
  /// The redirect URI of its sign-ins, if the file gives it.
  package let redirectURI: RedirectURIChoice?
  /// The path to which its sign-ins return.
  package internal(set) var callback = CallbackPath.shared
  /// The region in which its own tokens are requested; nil is the provider's global endpoint.
  package internal(set) var region: AzureRegionChoice?
  /// At which sign-in page people begin.
  package internal(set) var domainHint: DomainHint?
  /// True if sign-ins request refresh tokens.
  package internal(set) var hasOfflineAccess = true
  /// True if the provider must promise PKCE for sign-ins.
  package internal(set) var requiresPKCE = false

  package var isConfidential: Bool { credential != nil }

  package var clientSecret: Secret? { if case .secret(let secret)? = credential { secret } else { nil } }

  /// The machine's identity, if that is its credential.
  package var managedIdentity: ManagedIdentitySettings? {
    if case .managedIdentity(let identity)? = credential { identity } else { nil }
  }

  /// The machine's identity that has a part in its credential.
  package var machineIdentity: ManagedIdentitySettings? {
    if case .federated(.managedIdentity(let identity), _)? = credential { identity } else { managedIdentity }
  }

  /// The application of the same configuration whose tokens prove it.
  package var provingApplication: Located<String>? {
    if case .federated(.application(let name), _)? = credential { name } else { nil }
  }

  /// The command that prints its JWT; nil if its credential is of another kind.
  package var assertionCommand: AssertionCommandSettings? {
    if case .assertionCommand(let command)? = credential { command } else { nil }
  }

  /// The file with its JWT; nil if its credential is of another kind.
  package var assertionFile: String? {
    if case .assertionFile(let file)? = credential { file.file.value } else { nil }
  }

  /// The proxy that receives its token requests instead of the provider.
  package var tokenProxy: TokenProxySettings? {
    if case .assertionFile(let file)? = credential { file.tokenProxy } else { nil }
  }

  /// Its certificate, if it proves itself with one.
  package var certificate: CertificateSettings? {
    switch credential {
    case .certificate(let certificate)?, .mutualTLS(let certificate, _)?: certificate
    default: nil
    }
  }

  /// True if the TLS handshake with the provider proves it.
  package var isKnownByHandshake: Bool { if case .mutualTLS? = credential { true } else { false } }

  /// True if it shows its certificate to upstreams too, because its tokens are bound to it.
  package var hasBoundTokens: Bool {
    if case .mutualTLS(_, let hasBoundTokens)? = credential { hasBoundTokens } else { false }
  }

  /// Hashes what identifies an application; secrets are compared, never hashed.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(authority)
    hasher.combine(clientID)
  }
}

package enum CredentialSettings: Sendable, Equatable {
  case secret(Secret)
  /// A file with a JWT in the place of a secret (RFC 7523), read for each request.
  case assertionFile(AssertionFileSettings)
  /// A command that prints such a JWT.
  case assertionCommand(AssertionCommandSettings)
  /// A certificate with its key, which signs such a JWT for each request.
  case certificate(CertificateSettings)
  /// A certificate with its key, which is shown to the provider in the TLS handshake (RFC 8705 §2). Tokens that are
  /// bound to it are for upstreams that are shown it, too.
  case mutualTLS(CertificateSettings, hasBoundTokens: Bool)
  case managedIdentity(ManagedIdentitySettings)
  /// A token that another issuer hands out for this audience, and the provider takes as the application's proof.
  case federated(FederatedSourceSettings, audience: String)
}

/// An issuer of tokens that prove an application.
package enum FederatedSourceSettings: Sendable, Equatable {
  case managedIdentity(ManagedIdentitySettings)
  /// A service beside the workload.
  case service(FederatedTokenService)
  /// The provider of another application of the same configuration.
  case application(Located<String>)
}

/// A command that prints a JWT.
package struct AssertionCommandSettings: Sendable, Equatable {
  /// The limit of a run if the file has none.
  static let usualTimeout = TimeSpan.seconds(10)

  /// The program's path, with its place in the file.
  package let program: Located<String>
  /// The program's path, then its arguments.
  package let words: [String]
  /// The variables of the proxy's environment that it gets, `NAME=value` each.
  package let environment: [String]
  /// Values that its errors must not show.
  package let secrets: [Secret]
  /// The time limit of one run.
  package let timeout: TimeSpan
  package let type: ClientAssertionType
}

/// A file with a JWT.
package struct AssertionFileSettings: Sendable, Equatable {
  package let file: Located<String>
  package let type: ClientAssertionType
  /// The proxy that receives token requests instead of the provider.
  package let tokenProxy: TokenProxySettings?
  /// The variables of the environment that set it; empty if the file does.
  package let variables: [String]
}

/// The proxy of an AKS identity binding.
package struct TokenProxySettings: Sendable, Equatable {
  package let proxy: TokenEndpointProxy
  /// The file of certificate authorities that it is verified with.
  package let caFile: Located<String>?
  /// The key that turns it on.
  package let place: Located<Bool>
}

/// An identity of the machine, and how its service was found.
package struct ManagedIdentitySettings: Sendable, Equatable {
  package let identity: ManagedIdentity
  package let detection: ManagedIdentityDetection
  /// True if the configuration names the source.
  package let isChosen: Bool
}

/// A certificate with its key, and how the provider knows it. The files were readable when the configuration was read;
/// whether they belong together is found out by who loads them.
package struct CertificateSettings: Sendable, Equatable {
  /// The files of certificate and key.
  package enum Files: Sendable, Equatable {
    /// PEM: the certificate with its chain, and the key, which may be one file.
    case pem(CertificateFiles)
    /// A PKCS #12 archive.
    case archive(Located<String>)
  }

  package let files: Files
  /// The passphrase of key or archive.
  package let passphrase: Located<Secret>?
  /// The signature algorithm of assertions; nil: as the provider and the key suggest.
  package let algorithm: Located<ClientAssertionAlgorithm>?
  /// The key's name at the provider; nil: the certificate's thumbprint.
  package let keyID: String?
  /// True if assertions contain the certificates.
  package let sendsChain: Bool
  package let audience: ClientAssertionAudience
  package internal(set) var claims = AssertionClaims.none
  /// The key that names the file with the certificate.
  package var file: Located<String> {
    switch files {
    case .pem(let files): files.certificateFile
    case .archive(let file): file
    }
  }
}
