public import Bytes
internal import FoundationEssentials
internal import HTTP
internal import HTTPClient
internal import Platform
public import Tokens

/// The proof of a confidential application: MSAL's `client_credential`, without a callable.
public struct ApplicationCredential: Sendable {
  private enum Kind {
    case source(CredentialSource)
    case certificate(SigningCertificate, keyID: String?, sendsChain: Bool, AssertionClaims)
    case federated(FederatedTokenSource, audience: String?)
  }

  private let kind: Kind

  private init(_ kind: Kind) { self.kind = kind }

  /// A client secret.
  public static func secret(_ secret: Secret) -> ApplicationCredential {
    ApplicationCredential(.source(.secret(secret)))
  }

  /// A JWT of another issuer.
  public static func assertion(_ assertion: Secret, type: ClientAssertionType = .jwtBearer) -> ApplicationCredential {
    ApplicationCredential(.source(.assertion(assertion, type)))
  }

  /// A file with such a JWT, which another program renews: it is read for each token request.
  public static func assertionFile(_ path: String, type: ClientAssertionType = .jwtBearer) -> ApplicationCredential {
    ApplicationCredential(.source(.assertionFile(path: path, type)))
  }

  /// A certificate with its key, as PEM, which signs a JWT for each token request.
  /// - Parameters:
  ///   - path: the certificate, and its chain behind it.
  ///   - keyFile: the private key; nil: it is in `path`.
  ///   - passphrase: of an encrypted key.
  ///   - keyID: the key's name at the provider (`kid`); nil: the certificate's thumbprint.
  ///   - sendsChain: the JWT contains the certificates (`x5c`).
  ///   - claims: further claims of the JWT. None of `iss`, `sub`, `aud`, `exp`, `iat`, `nbf` and `jti`.
  /// - Throws: `assertionClaims` if one cannot be added, `certificate` if the files do not fit together, `file` if one
  ///   cannot be read.
  public static func certificate(
    _ path: String, keyFile: String? = nil, passphrase: Secret? = nil, keyID: String? = nil, sendsChain: Bool = false,
    claims: [String: String] = [:]
  ) throws(ClientApplicationError) -> ApplicationCredential {
    let (certificate, key) = (try contents(path), try contents(keyFile ?? path))
    let signing = try mapping(
      ClientApplicationError.certificate,
      SigningCertificate(pem: certificate, key: key, passphrase: passphrase?.bytes.array))
    return try .signing(signing, keyID, sendsChain, claims)
  }

  /// The same in a PKCS #12 archive (PFX).
  public static func archive(
    _ path: String, passphrase: Secret? = nil, keyID: String? = nil, sendsChain: Bool = false,
    claims: [String: String] = [:]
  ) throws(ClientApplicationError) -> ApplicationCredential {
    let archive = try contents(path)
    let signing = try mapping(
      ClientApplicationError.certificate,
      SigningCertificate(archive: archive, passphrase: passphrase?.bytes.array))
    return try .signing(signing, keyID, sendsChain, claims)
  }

  private static func signing(
    _ certificate: SigningCertificate, _ keyID: String?, _ sendsChain: Bool, _ claims: [String: String]
  ) throws(ClientApplicationError) -> ApplicationCredential {
    let claims = try mapping(ClientApplicationError.assertionClaims, AssertionClaims(claims))
    return ApplicationCredential(.certificate(certificate, keyID: keyID, sendsChain: sendsChain, claims))
  }

  /// A token of a user-assigned identity of the machine (Azure), also in other tenants.
  /// - Parameter audience: nil is that of the authority's cloud.
  /// - Throws: `managedIdentity` if the environment names no service that has it.
  public static func managedIdentity(
    _ id: ManagedIdentityID, audience: String? = nil
  ) throws(ClientApplicationError) -> ApplicationCredential {
    ApplicationCredential(.federated(.managedIdentity(try ManagedIdentity.found(id)), audience: audience))
  }

  /// The identity token of a Google Cloud machine, pod or job.
  public static func gcp(audience: String? = nil) throws(ClientApplicationError) -> ApplicationCredential {
    try service(audience, FederatedTokenService.gcp(environment:))
  }

  /// The ID token of a job of GitHub Actions or Forgejo Actions.
  /// - Throws: `environment` if this is no job, or one without the permission `id-token: write`.
  public static func githubActions(audience: String? = nil) throws(ClientApplicationError) -> ApplicationCredential {
    try service(audience, FederatedTokenService.githubActions(environment:))
  }

  private static func service(
    _ audience: String?, _ found: ([String: String]) throws(EnvironmentMistake) -> FederatedTokenService
  ) throws(ClientApplicationError) -> ApplicationCredential {
    do throws(EnvironmentMistake) {
      return ApplicationCredential(
        .federated(.service(try found(ProcessInfo.processInfo.environment)), audience: audience))
    } catch {
      switch error {
      case .missing(let name), .url(let name), .plaintext(let name), .twoTrusts(let name, _):
        throw .environment(variable: name)
      }
    }
  }

  private static func contents(_ path: String) throws(ClientApplicationError) -> [UInt8] {
    try mapping({ ClientApplicationError.file(path: path, $0) }, ReadableFile.contents(of: path, limit: 1 << 20))
  }

  /// The credential that an application of a provider sends.
  func source(at authority: Authority) throws(ClientApplicationError) -> CredentialSource {
    switch kind {
    case .source(let source): return source
    case .federated(let source, let audience):
      let audience = audience ?? authority.exchangeAudience
      _ = try mapping(ClientApplicationError.scope, ScopeSet([audience]))
      return .federated(source, audience: audience)
    case .certificate(let certificate, let keyID, let sendsChain, let claims):
      guard let algorithm = authority.assertionAlgorithm(among: certificate.algorithms) else {
        throw .certificate(.unusableKey(.wrongKeyKind))
      }
      return .certificate(
        certificate, ClientAssertionForm(algorithm, keyID: keyID, sendsChain: sendsChain, claims: claims))
    }
  }
}

extension ManagedIdentity {
  /// An identity at the service that the environment names.
  static func found(_ id: ManagedIdentityID) throws(ClientApplicationError) -> ManagedIdentity {
    let hasAgent = FileManager.default.fileExists(atPath: ManagedIdentityDetection.arcAgent)
    return try mapping(
      ClientApplicationError.managedIdentity,
      ManagedIdentity(
        id,
        at: ManagedIdentityDetection(
          nil, environment: ProcessInfo.processInfo.environment, hasArcAgent: hasAgent
        ).host))
  }
}

extension CredentialSource {
  /// The routes of an application's requests: to its provider, and to the issuer of its proof.
  func fetch(_ fetcher: Fetcher, provider: TLSContext?) throws(ClientApplicationError) -> Fetch {
    let direct = fetcher.bound(tls: provider)
    let endpoint: HTTPURL
    var pin: [UInt8]?
    switch self {
    case .managedIdentity(let identity), .federated(.managedIdentity(let identity), _):
      endpoint = identity.host.endpoint
      if case .serviceFabric(_, _, let thumbprint) = identity.host { pin = thumbprint }
    case .federated(.service(let service), _): endpoint = service.endpoint
    case .secret, .assertion, .assertionFile, .assertionCommand, .certificate, .mutualTLS, .federated(.application, _),
      .federated(.command, _):
      return direct
    }
    let (machine, federation): (Fetch, Fetch)
    do throws(TLSConfigurationError) {
      let tls = try pin.map { sha1 throws(TLSConfigurationError) in try TLSContext.client(pinned: sha1) }
      if let address = SocketAddress(literal: endpoint.connectionHost, port: endpoint.port) {
        machine = fetcher.bound(to: address, tls: tls, timeout: .seconds(10))
      } else {
        machine = fetcher.bound(tls: tls)
      }
      federation = fetcher.bound(tls: endpoint.scheme == .https ? try TLSContext.client() : nil)
    } catch {
      throw .trust(error)
    }
    return { request throws(FetchError) in
      switch request.destination {
      case .provider: try await direct(request)
      case .machine: try await machine(request)
      case .federation: try await federation(request)
      // The library's applications have no region.
      case .region: throw .closed(host: request.url.host)
      }
    }
  }
}

extension HTTPURL {
  /// The host to connect to. Google documents an address for its name, which some resolvers do not know.
  package var connectionHost: String { host == "metadata.google.internal" ? "169.254.169.254" : host }
}

/// An application whose tokens are those of an identity of the machine (MSAL's `ManagedIdentityClient`): no provider is
/// asked, and tokens stay in memory.
public struct ManagedIdentityApplication: Sendable {
  private let base: ClientApplicationBase

  /// Finds the service for the identity's tokens, by the environment, in MSAL's order. Nothing is requested yet.
  /// - Parameters:
  ///   - id: one of the machine's identities.
  ///   - clientCapabilities: the program's capabilities, such as `cp1`; only Service Fabric's service is told.
  /// - Throws: `managedIdentity` if the environment names no service that has it, `system` if the system gives no event
  ///   loop.
  public init(
    _ id: ManagedIdentityID = .systemAssigned, clientCapabilities: [String] = []
  ) throws(ClientApplicationError) {
    base = try ClientApplicationBase(try ManagedIdentity.found(id), capabilities: clientCapabilities)
  }

  /// The identity's token for a resource (MSAL's `acquire_token_for_client`): the held one, or the service's with
  /// `forceRefresh` or the claims of an API's challenge.
  /// - Parameter resource: such as `https://vault.azure.net`, with or without `/.default`.
  /// - Throws: `acquisition` if there is no token, `scope` if the resource cannot be requested.
  public func acquireToken(
    resource: String, forceRefresh: Bool = false, claims: Claims? = nil
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    try await base.acquire(
      .application, base.applicationScopes([resource]), isForced: forceRefresh, claims: claims)
  }
}
