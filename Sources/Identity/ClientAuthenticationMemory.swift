// Owns the second attempt at proving the application with the other placement of its secret, and the memory of which one the provider
// accepted. The order is `ClientSecretPlacement.order`'s.

internal import Network
internal import Tokens

/// Which placement of its secret a provider has accepted from an application. Shared by all requests of a process.
public final class ClientAuthenticationMemory: Sendable {
  private struct Name: Hashable {
    var authority: Authority
    var clientID: String
  }

  private let accepted = Locked<[Name: ClientSecretPlacement]>([:])

  /// Nothing known yet.
  public init() {}

  fileprivate subscript(_ application: Application) -> ClientSecretPlacement? {
    get { accepted.withLock { $0[Name(authority: application.authority, clientID: application.clientID)] } }
    set { accepted.withLock { $0[Name(authority: application.authority, clientID: application.clientID)] = newValue } }
  }
}

extension Application {
  /// Sends a request that proves the application; once more with the other placement of the secret where the provider does not
  /// accept the first.
  ///
  /// A grant that is good for one use may be sent again: a provider authenticates the application before it looks at the grant.
  func authenticated<Reply>(
    by credential: ClientCredential?, _ metadata: ProviderMetadata,
    _ send: (ClientSecretPlacement) async throws(AcquisitionFailure) -> Reply
  ) async throws(AcquisitionFailure) -> Reply {
    let memory = authentication
    let order = ClientSecretPlacement.order(
      configured: secretPlacement, accepted: memory[self], offered: metadata.secretPlacements)
    guard case .secret = credential, order.count > 1 else { return try await send(order[0]) }
    let refusal: AcquisitionFailure
    do throws(AcquisitionFailure) {
      return try await send(order[0])
    } catch {
      guard error.isAboutClient else { throw error }
      refusal = error
    }
    do throws(AcquisitionFailure) {
      let reply = try await send(order[1])
      memory[self] = order[1]
      return reply
    } catch {
      // The secret itself is wrong: what the first placement met is told.
      if error.isAboutClient { throw refusal }
      // Refused for another reason, so the application was believed.
      if error.isRefusal { memory[self] = order[1] }
      throw error
    }
  }
}

extension AcquisitionFailure {
  /// Whether the provider may not believe who the application is: `invalid_client` and 401 (RFC 6749 §5.2), and what some providers
  /// answer instead, another word or none at all (glewlwyd).
  fileprivate var isAboutClient: Bool {
    guard case .token(let failure) = self else { return false }
    return switch failure.cause {
    case .refused(let reply):
      failure.status == 401 || reply.error == "invalid_client" || reply.error == "unauthorized_client"
    case .unintelligible: [400, 401, 403].contains(failure.status)
    case .noAccessToken, .tokenType, .unusableToken, .lifetime: false
    }
  }

  fileprivate var isRefusal: Bool {
    if case .token(let failure) = self, case .refused = failure.cause {
      failure.errorClass != .transient
    } else {
      false
    }
  }
}
