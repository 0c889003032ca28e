// Owns what is taken out of a provider's error before anybody reads it: our own secrets, which some providers repeat.

internal import Tokens

extension TokenFailure {
  /// The same without the provider's prose where that repeats a secret of the request: people and logs are shown it.
  func withoutEcho(of request: TokenRequest) -> TokenFailure {
    guard case .refused(var reply) = cause, let prose = reply.description else { return self }
    let secrets = [request.credential?.secret].compactMap { $0 } + request.grant.secrets
    guard secrets.contains(where: { !$0.isEmpty && prose.contains($0.revealed()) }) else { return self }
    reply.description = nil
    return TokenFailure(.refused(reply), status: status, retryAfter: retryAfter)
  }
}

extension ClientCredential {
  fileprivate var secret: Secret {
    switch self {
    case .secret(let secret), .assertion(let secret): secret
    }
  }
}

extension TokenGrant {
  /// What is offered, where that is secret.
  fileprivate var secrets: [Secret] {
    switch self {
    case .clientCredentials: []
    case .authorizationCode(let code, _, let verifier): [code, verifier]
    case .deviceCode(let code): [code]
    case .refreshToken(let token): [token]
    }
  }
}
