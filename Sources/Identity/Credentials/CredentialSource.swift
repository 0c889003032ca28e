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
  /// A certificate with its key, which is shown in the TLS handshake with the provider (RFC 8705 §2).
  /// `Application.fetch` shows it.
  case mutualTLS(SigningCertificate)
  /// The machine itself: its service gives out tokens, and no provider is asked.
  case managedIdentity(ManagedIdentity)
  /// A token that another issuer gives out for this audience, and the provider accepts as the application's proof.
  case federated(FederatedTokenSource, audience: String)
}

extension CredentialSource {
  /// True if another issuer gives out the application's proof. Its subject must be registered at the provider, and not
  /// all of the provider's servers know a new registration at once.
  package var isHandedOut: Bool {
    switch self {
    case .assertion, .assertionFile, .assertionCommand, .federated, .managedIdentity: true
    case .secret, .certificate, .mutualTLS: false
    }
  }
}

extension Application {
  /// The proof for a request that is sent now.
  func proof(
    to metadata: ProviderMetadata, _ surroundings: ProofSurroundings
  ) async throws(AcquisitionError) -> ClientCredential? {
    switch credential {
    case nil, .managedIdentity, .mutualTLS: return nil
    case .secret(let secret): return .secret(secret)
    case .assertion(let assertion, let type):
      do throws(ClientAssertionError) {
        return .assertion(try assertion.current(from: .program, at: surroundings.now()), type: type)
      } catch {
        throw AcquisitionError(.assertion(error))
      }
    case .federated(let source, let audience):
      let request = FederatedTokens.Request(
        source: source, audience: audience, fetch: fetch, surroundings: surroundings)
      return .assertion(try await authentication.federatedTokens.token(for: request).text)
    case .assertionCommand(let command, let type):
      let request = commandRequest(command, to: metadata, surroundings)
      return .assertion(try await authentication.federatedTokens.token(for: request).text, type: type)
    case .assertionFile(let path, let type):
      do throws(ClientAssertionError) {
        return .assertion(try await ClientAssertionFile(path: path).read(at: surroundings.now()), type: type)
      } catch {
        throw AcquisitionError(.assertion(error))
      }
    case .certificate(let certificate, let form):
      let assertion = ClientAssertion(
        form, of: certificate.names, clientID: clientID, to: metadata, now: surroundings.now(),
        id: UUID().uuidString.lowercased())
      do throws(CryptoError) {
        let input = assertion.signingInput
        return .assertion(
          SignedJWT.compact(
            signingInput: input, signature: try certificate.signature(of: input, SignatureScheme(form.algorithm))))
      } catch {
        throw AcquisitionError(.assertion(.unsigned(error)))
      }
    }
  }
}

extension Application {
  /// The run of a command. Its JWT is for one token endpoint.
  private func commandRequest(
    _ command: AssertionCommand, to metadata: ProviderMetadata, _ surroundings: ProofSurroundings
  ) -> FederatedTokens.Request {
    let endpoint = metadata.tokenEndpoint.description
    let run = AssertionCommandRun(
      command: command, clientID: clientID, tokenEndpoint: endpoint, issuer: metadata.issuer)
    return FederatedTokens.Request(
      source: .command(run), audience: endpoint, fetch: fetch, surroundings: surroundings)
  }

  /// The claims of another issuer's token that proves the application, unverified; nil if there is no such token, or it
  /// has no claims.
  func handedOutClaims(_ surroundings: ProofSurroundings) async throws(AcquisitionError) -> JWTClaims? {
    switch credential {
    case .federated(let source, let audience):
      let request = FederatedTokens.Request(
        source: source, audience: audience, fetch: fetch, surroundings: surroundings)
      return try await authentication.federatedTokens.token(for: request).claims
    case .assertionFile(let path, _):
      do throws(ClientAssertionError) {
        return FederatedToken(try await ClientAssertionFile(path: path).read().revealed())?.claims
      } catch {
        throw AcquisitionError(.assertion(error))
      }
    case .assertionCommand(let command, _):
      let request = commandRequest(command, to: try await surroundings.discover(self), surroundings)
      return try await authentication.federatedTokens.token(for: request).claims
    case .assertion(let assertion, _): return FederatedToken(assertion.revealed())?.claims
    case nil, .secret, .certificate, .mutualTLS, .managedIdentity: return nil
    }
  }
}

extension SigningCertificate {
  /// The names for headers.
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

extension Secret {
  /// A JWT that proves an application, if it has not ended. No provider is asked with one that has: it would be refused
  /// for a reason that hides the cause.
  fileprivate func current(
    from origin: ClientAssertionOrigin, at now: UnixTime
  ) throws(ClientAssertionError) -> Secret {
    if let end = FederatedToken(revealed())?.expiresAt, end <= now { throw .expired(origin, at: end) }
    return self
  }
}

/// A file with an application's proof that another program renews: a pod's projected service-account token. It is read
/// for each request, because it lives an hour and is replaced without notice.
struct ClientAssertionFile: Sendable {
  let path: String

  private static let queue = FileQueue("assertion")
  /// More than any token.
  private static let limit = 64 << 10

  /// The same, if it has not ended.
  func read(at now: UnixTime) async throws(ClientAssertionError) -> Secret {
    try await read().current(from: .file(path: path), at: now)
  }

  /// The present token. Links are followed: a kubelet replaces their targets.
  func read() async throws(ClientAssertionError) -> Secret {
    let result = await Self.queue.run { [path] () -> Result<[UInt8], FileError> in
      do throws(FileError) {
        return .success(try ReadableFile.contents(of: path, limit: Self.limit))
      } catch {
        return .failure(error)
      }
    }
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try result.get()
    } catch {
      throw .unreadable(path: path, error)
    }
    let text = String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
    do throws(JWTRefusal) {
      _ = try SignedJWT(text)
    } catch {
      throw .notSigned(path: path)
    }
    return Secret(text)
  }
}
