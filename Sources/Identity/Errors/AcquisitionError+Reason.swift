// The words of acquisition errors for operators. Callers of the proxy get the proxy's own words.

internal import Bytes
package import HTTPClient
internal import Platform
internal import Telemetry
package import Tokens

extension AcquisitionError {
  /// A stable word for log records, `/readyz` and scripts: the one that the callers' problem document has too.
  public var reason: String {
    switch kind {
    case .providerUnavailable: "identity-provider-unavailable"
    case .rejected: "token-request-rejected"
    case .unusableMetadata: "authority-unusable"
    case .cacheUnavailable: "token-cache-unavailable"
    case .interactionRequired: "interaction-required"
    case .assertionRefused(let refused):
      switch refused.refusal {
      case .claims: "caller-claims-required"
      case .consent: "caller-consent-required"
      case .invalidToken: "caller-token-refused"
      case .denied: "caller-denied"
      }
    }
  }

  /// The details: the provider's codes, the host, the errno. No secret, no token.
  public var detail: String {
    if case .providerUnavailable(let status?) = kind { return "answered with status \(status) and no token" }
    return switch cause {
    case .unreached(let error): error.detail
    case .metadata(let status, let reply):
      "metadata answered with status \(status)" + (reply.map { ": \($0.detail)" } ?? "")
    case .document(let error): error.detail
    case .token(let failure): failure.reply?.detail ?? ""
    case .assertion(let error): error.detail
    case .proof(let source, let error): "\(source.words) gave no token that proves the application: \(error.detail)"
    case .managedIdentity(let error): error.detail
    case .actor(let error): "the actor's token: \(error.detail)"
    case .cacheUnread: "the token cache cannot be read, so who is signed in is not known"
    case .interaction(let required):
      required.reply.map { "\(required.reason.rawValue): \($0.detail)" } ?? required.reason.rawValue
    case .refused(let refused): refused.reply?.detail ?? "the caller's token has ended, or names no tenant"
    }
  }
}

extension TokenErrorReply {
  /// The provider's codes and words.
  package var detail: String {
    var words = [error]
    if let suberror { words.append(suberror) }
    // The prose begins with the code in most replies.
    words += codes.map { "AADSTS\($0)" }.filter { description?.contains($0) != true }
    if let description { words.append(description) }
    if let clockSkew {
      words.append(
        "this machine's clock is \(Tokens.words(seconds: abs(clockSkew))) \(clockSkew > 0 ? "ahead of" : "behind") the "
          + "provider's")
    }
    if let correlationID { words.append("correlation id \(correlationID)") }
    return words.joined(separator: "; ")
  }
}

extension ProviderMetadataError {
  fileprivate var detail: String {
    switch self {
    case .notJSON: "metadata is not a JSON object"
    case .missing(let member): "metadata has no \(member)"
    case .issuer(let found): "metadata names the issuer \(found), which is not this authority's"
    case .endpoint(let member): "metadata's \(member) is not an https URL"
    }
  }
}

extension ClientAssertionError {
  fileprivate var detail: String {
    switch self {
    case .unreadable(let path, let error): "the client assertion cannot be read from \(path): \(error.description)"
    case .notSigned(nil): "it printed no signed JWT, and nothing of it was sent"
    case .notSigned(let path?): "what \(path) holds is no signed JWT, and was not sent as a client assertion"
    case .unsigned(let error): "the client assertion could not be signed: \(error.words)"
    case .expired(.file(let path), let end):
      "the token in \(path) expired at \(end.rfc3339) and was not sent: what writes that file has not renewed it "
        + "(the kubelet, for a projected volume; else an agent)"
    case .expired(.program, let end):
      "the client assertion that the program brought expired at \(end.rfc3339) and was not sent"
    case .command(let error): error.detail
    case .expired(.issuer, let end): "the token that was handed out had expired at \(end.rfc3339), and was not sent"
    }
  }
}

extension ExternalCommandError {
  fileprivate var detail: String {
    switch self {
    case .notStarted(let error): "it cannot be started: \(error.reason)"
    case .timedOut(let limit): "it took longer than \(limit.nanoseconds / 1_000_000_000) s and was killed"
    case .tooLong(let limit): "it printed more than \(limit) bytes and was killed"
    case .failed(.exited(let status), []): "it ended with status \(status) and no error that can be shown"
    case .failed(.exited(let status), let errors):
      "it ended with status \(status): \(String(decoding: errors, as: UTF8.self))"
    case .failed(.killed(let signal), []): "it was ended by signal \(signal) and no error that can be shown"
    case .failed(.killed(let signal), let errors):
      "it was ended by signal \(signal): \(String(decoding: errors, as: UTF8.self))"
    }
  }
}

extension ClientProofSource {
  fileprivate var words: String {
    switch self {
    case .managedIdentity(let kind): "the managed identity service (\(kind))"
    case .gcp: "Google Cloud's metadata server"
    case .githubActions: "the job's ID token service"
    case .command(let program): "the command \(program)"
    case .application(let name): "application '\(name)'"
    }
  }
}

extension ManagedIdentityError {
  fileprivate var detail: String {
    switch self {
    case .arcChallenge: "the agent of Azure Arc named no key file in \(ArcChallenge.directory)"
    case .arcKey(let path, let error): "the key of Azure Arc's agent cannot be read from \(path): \(error.description)"
    case .notConfirmed: "the answer names another identity than was asked for, or none"
    }
  }
}

extension CryptoError {
  package var words: String {
    switch self {
    case .unavailable(let reason), .unreadableKey(let reason), .invalidPublicKey(let reason), .signing(let reason),
      .certificate(let reason):
      "OpenSSL says '\(reason)'"
    case .noRandomness: "there is no randomness"
    case .wrongKeyKind: "the key is of another kind"
    case .keyTooSmall(let bits): "the key has \(bits) bits"
    }
  }
}

extension FetchError {
  /// The mistake, with the host.
  package var detail: String {
    switch self {
    case .unresolved(let host, let reason): "\(host) has no address: \(reason)"
    case .proxy(let host, let reason): "\(host) cannot be reached: \(reason)"
    case .unreachable(let host, let port, let errno):
      "\(host) port \(port) accepted no connection: \(SystemError("connect", errno).reason)"
    case .tls(let host, let reason, _): "\(host) failed the TLS handshake: \(reason)"
    case .closed(let host): "\(host) closed the connection before it had answered"
    case .malformed(let host): "\(host) answered with something that is not HTTP"
    case .answeredWithTLS(let host): "\(host) answered plain HTTP with TLS"
    case .tooLarge(let host): "\(host) answered with more than 1 MiB"
    case .timedOut(let host): "\(host) did not answer in time"
    }
  }
}
