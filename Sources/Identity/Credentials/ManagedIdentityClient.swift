internal import Bytes
internal import HTTPClient
internal import Platform
internal import Tokens

/// Requests tokens of an identity.
struct ManagedIdentityClient: Sendable {
  let identity: ManagedIdentity
  /// Reaches the service: not through a proxy, and redirects are answers.
  let fetch: Fetch
  let now: @Sendable () -> UnixTime
  /// Waits for seconds.
  let sleep: @Sendable (Int64) async -> Void
  /// The directory of Azure Arc's files.
  var arcDirectory = ArcChallenge.directory

  private static let queue = FileQueue("managed-identity")

  /// A token for a resource. The request is repeated by the service's rules.
  /// - Parameter refused: the token that an API refused for its claims.
  func token(
    for resource: String, capabilities: [String] = [], refused: Secret? = nil
  ) async throws(AcquisitionError) -> ManagedIdentityReply {
    let request = ManagedIdentityRequest(
      identity, resource: resource, capabilities: capabilities, refused: refused.flatMap(Self.digest))
    var retry = ManagedIdentityRetry(identity.host.source)
    while true {
      do throws(AcquisitionError) {
        let reply = try await once(request, resource)
        if case .arc = identity.host, !reply.confirms(identity.id) {
          throw AcquisitionError(.managedIdentity(.notConfirmed))
        }
        return reply
      } catch {
        guard case .token(var failure) = error.cause else { throw error }
        guard let pause = retry.pause(after: failure.status, retryAfter: failure.retryAfter), !Task.isCancelled else {
          failure.retryAfter = failure.retryAfter ?? retry.pause(after: failure.status)
          throw AcquisitionError(failure)
        }
        await sleep(pause)
      }
    }
  }

  private static func digest(_ token: Secret) -> [UInt8]? {
    // Without it the service may answer with the same token.
    do throws(CryptoError) { return try SHA256.digest(of: token.bytes) } catch { return nil }
  }

  private func once(
    _ request: ManagedIdentityRequest, _ resource: String
  ) async throws(AcquisitionError) -> ManagedIdentityReply {
    var request = request
    var response = try await send(request)
    if case .arc = identity.host, response.status == 401 {
      let challenge = response.value(of: "www-authenticate") ?? ""
      guard let name = ArcChallenge.file(in: challenge, directory: arcDirectory) else {
        throw AcquisitionError(.managedIdentity(.arcChallenge))
      }
      request = ManagedIdentityRequest(identity, resource: resource, arcKey: try await key("\(arcDirectory)/\(name)"))
      response = try await send(request)
    }
    return try mapping(AcquisitionError.init, ManagedIdentityReply(response.answer, sent: request.secrets, now: now()))
  }

  private func send(_ request: ManagedIdentityRequest) async throws(AcquisitionError) -> FetchResponse {
    let method = request.form.map {
      FetchRequest.Method.post(contentType: TokenRequest.contentType, body: $0)
    }
    var fetched = FetchRequest(method ?? .get, request.url, fields: request.fields)
    fetched.destination = .machine
    fetched.answerLimit = ProviderRequests.usualAnswerLimit
    return try await AcquisitionError.reaching(fetched, by: fetch)
  }

  /// The file that Arc's agent wrote for processes that may have tokens, in its directory.
  private func key(_ path: String) async throws(AcquisitionError) -> Secret {
    let key = try await mapping(
      { AcquisitionError(.managedIdentity(.arcKey(path: path, $0))) },
      awaiting: await Self.queue.contents(of: path, limit: ArcChallenge.limit))
    // It becomes a field of a request.
    return Secret(key.filter { (0x21...0x7E).contains($0) })
  }
}
