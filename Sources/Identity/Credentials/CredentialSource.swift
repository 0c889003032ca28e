package import Bytes
internal import FoundationEssentials
internal import HTTP
package import Platform
package import Tokens

/// The proof of an application, and its source.
package enum CredentialSource: Sendable, Equatable {
  case secret(Secret)
  /// A JWT of another issuer that the program brings.
  case assertion(Secret, ClientAssertionType = .jwtBearer)
  /// A file with such a JWT, which another program renews.
  case assertionFile(path: String, ClientAssertionType = .jwtBearer)
  /// A command that prints such a JWT, run when one is needed.
  case assertionCommand(AssertionCommand, ClientAssertionType = .jwtBearer)
  /// A certificate with its key, which signs a JWT for each request.
  case certificate(SigningCertificate, ClientAssertionForm)
  /// A certificate with its key, which `Application.fetch` shows in the TLS handshake (RFC 8705 §2).
  case mutualTLS(SigningCertificate)
  /// The machine itself: its service gives out tokens, and no provider is asked.
  case managedIdentity(ManagedIdentity)
  /// A token that another issuer gives out for this audience, and the provider accepts as the application's proof.
  case federated(FederatedTokenSource, audience: String)

  /// True if another issuer gives out the proof. Not all of a provider's servers know a new registration at once.
  package var isHandedOut: Bool {
    switch self {
    case .assertion, .assertionFile, .assertionCommand, .federated, .managedIdentity: true
    case .secret, .certificate, .mutualTLS: false
    }
  }
}

extension Application {
  /// The proof for a request now. A JWT that has ended is not sent: the refusal would hide the cause.
  func proof(
    to metadata: ProviderMetadata, _ surroundings: ProofSurroundings
  ) async throws(AcquisitionError) -> ClientCredential? {
    switch credential {
    case .secret(let secret): return .secret(secret)
    case .certificate(let certificate, let form):
      let assertion = ClientAssertion(
        form, of: certificate.names, clientID: clientID, to: metadata, now: surroundings.now(),
        id: UUID().uuidString.lowercased())
      let input = assertion.signingInput
      let signature = try mapping(
        { AcquisitionError(.assertion(.unsigned($0))) },
        certificate.signature(of: input, SignatureScheme(form.algorithm)))
      return .assertion(SignedJWT.compact(signingInput: input, signature: signature))
    case .assertion, .assertionFile, .assertionCommand, .federated, .mutualTLS, .managedIdentity, nil:
      guard let proof = try await handedOut(at: metadata, surroundings) else { return nil }
      if let origin = proof.origin, let end = FederatedToken(proof.jwt.revealed())?.expiresAt, end <= surroundings.now()
      {
        throw AcquisitionError(.assertion(.expired(origin, at: end)))
      }
      return .assertion(proof.jwt, type: proof.type)
    }
  }

  /// The claims of another issuer's token that proves the application, unverified; nil if there are none.
  func handedOutClaims(_ surroundings: ProofSurroundings) async throws(AcquisitionError) -> JWTClaims? {
    try await handedOut(at: nil, surroundings).flatMap { SignedJWT.claims(of: $0.jwt.revealed()) }
  }

  /// Another issuer's JWT that proves the application; nil if there is none.
  private struct HandedOut {
    var jwt: Secret
    var type = ClientAssertionType.jwtBearer
    /// Its renewer; nil if that was asked for it now.
    var origin: ClientAssertionOrigin?
  }

  /// - Parameter metadata: those of the application's provider; nil: not known yet.
  private func handedOut(
    at metadata: ProviderMetadata?, _ surroundings: ProofSurroundings
  ) async throws(AcquisitionError) -> HandedOut? {
    let (source, audience, type): (FederatedTokenSource, String, ClientAssertionType)
    switch credential {
    case nil, .secret, .certificate, .mutualTLS, .managedIdentity: return nil
    case .assertion(let jwt, let type): return HandedOut(jwt: jwt, type: type, origin: .program)
    case .assertionFile(let path, let type):
      let jwt = try await mapping(
        { AcquisitionError(.assertion($0)) }, awaiting: await ClientAssertionFile(path: path).read())
      return HandedOut(jwt: jwt, type: type, origin: .file(path: path))
    case .federated(let issuer, let name): (source, audience, type) = (issuer, name, .jwtBearer)
    case .assertionCommand(let command, let named):
      let provider: ProviderMetadata
      if let metadata { provider = metadata } else { provider = try await surroundings.discover(self) }
      // The command's JWT is for one token endpoint.
      let endpoint = provider.tokenEndpoint.description
      let run = AssertionCommandRun(
        command: command, clientID: clientID, tokenEndpoint: endpoint, issuer: provider.issuer)
      (source, audience, type) = (.command(run), endpoint, named)
    }
    let request = FederatedTokens.Request(source: source, audience: audience, fetch: fetch, surroundings: surroundings)
    return HandedOut(jwt: try await authentication.federatedTokens.token(for: request).text, type: type)
  }
}

extension SigningCertificate {
  package var names: CertificateNames { CertificateNames(sha1: sha1, sha256: sha256, chain: chain) }

  /// The algorithms that its key supports.
  package var algorithms: [ClientAssertionAlgorithm] {
    ClientAssertionAlgorithm.allCases.filter { schemes.contains(SignatureScheme($0)) }
  }
}

extension SignatureScheme {
  init(_ algorithm: ClientAssertionAlgorithm) {
    self =
      switch algorithm {
      case .ps256: .rsa(.ps256)
      case .rs256: .rsa(.rs256)
      case .es256: .ecdsa(.p256)
      case .es384: .ecdsa(.p384)
      case .es512: .ecdsa(.p521)
      }
  }
}

/// A file with an application's proof that another program renews: a pod's projected service-account token. It is read
/// for each request, because it lives an hour and is replaced without notice.
struct ClientAssertionFile: Sendable {
  let path: String

  private static let queue = FileQueue("assertion")
  /// More than any token.
  private static let limit = 64 << 10

  /// The present token, if it has not ended.
  func read(at now: UnixTime) async throws(ClientAssertionError) -> Secret {
    let jwt = try await read()
    if let end = FederatedToken(jwt.revealed())?.expiresAt, end <= now { throw .expired(.file(path: path), at: end) }
    return jwt
  }

  /// The present token. Links are followed: a kubelet replaces their targets.
  func read() async throws(ClientAssertionError) -> Secret {
    let bytes = try await mapping(
      { ClientAssertionError.unreadable(path: path, $0) },
      awaiting: await Self.queue.contents(of: path, limit: Self.limit))
    let text = String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
    guard SignedJWT.claims(of: text) != nil else { throw .notSigned(path: path) }
    return Secret(text)
  }
}

extension FileQueue {
  /// The contents of a file, read on this queue.
  func contents(of path: String, limit: Int) async throws(FileError) -> [UInt8] {
    try await run { Result { () throws(FileError) in try ReadableFile.contents(of: path, limit: limit) } }.get()
  }
}
