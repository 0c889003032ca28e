// Owns what the broker knows of one application: who it is, how it proves it, and how its provider is reached.

internal import Bytes
package import HTTPClient
internal import Platform
package import Tokens

/// An application registered with a provider, as one entry of the configuration describes it.
package struct Application: Sendable {
  /// Its name in the configuration: the label of its log records and metrics.
  package var name: String
  /// The provider.
  package var authority: Authority
  /// Its id there.
  package var clientID: String
  /// Its proof; nil for a public application.
  package var credential: ClientCredential?
  /// A file that holds its proof, a JWT, in the place of `credential`.
  package var assertionPath: String?
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
  /// Names what `fetch` trusts (a CA file, or the system's): metadata fetched under one trust is not used under
  /// another.
  package var trust: String

  /// An application of these parts.
  package init(
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

/// A file with an application's proof that another program keeps fresh: a pod's projected service-account token. It is
/// read for each request, because it lives an hour and is replaced without notice.
struct ClientAssertionFile: Sendable {
  let path: String

  private static let queue = FileQueue("assertion")
  /// More than any token.
  private static let limit = 64 << 10

  /// The token that stands there now. Links are followed: a kubelet replaces what they lead to.
  func read() async throws(ClientAssertionError) -> Secret {
    let result = await Self.queue.run { [path] () -> Result<[UInt8], FileReadError> in
      do throws(FileReadError) {
        return .success(try ReadableFile.contents(of: path, limit: Self.limit))
      } catch {
        return .failure(error)
      }
    }
    let bytes: [UInt8]
    do throws(FileReadError) {
      bytes = try result.get()
    } catch {
      throw .unreadable(path: path, error)
    }
    let text = String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
    do throws(JWTFormatError) {
      _ = try SignedJWT(text)
    } catch {
      throw .notSigned(path: path)
    }
    return Secret(text)
  }
}
