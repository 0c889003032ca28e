// The reactions to failures on the way to a token: what callers are told, how long the key pauses, one more try.

internal import HTTPClient
internal import Tokens

extension AcquisitionError {
  /// Seconds after which a caller that was told so may ask again: the cache is looked for at least that often.
  static let cachePause: Int64 = 2

  /// The error for the callers of a key. Only a person's subscription ever needs a person.
  func told(to key: AcquisitionKey, retryAfter seconds: Int64) -> AcquisitionError {
    var told = retrying(after: isAboutCache ? Self.cachePause : seconds)
    guard case .token(let failure) = cause, let reply = failure.refusal else { return told }
    switch key.subject {
    case .caller(_, let grant):
      if let refusal = AssertionRefusal(reply, grant: grant) {
        told.cause = .refused(AssertionRefused(refusal, key, reply: reply))
      }
    case .account where isAboutRefreshToken:
      told = AcquisitionError(InteractionReason(reply), key, reply: reply, retryAfter: told.retryAfter)
    case .account, .application, .agentUser: break
    }
    return told
  }

  /// The same with another pause: a remembered error is handed out later than it happened.
  func retrying(after seconds: Int64) -> AcquisitionError {
    var error = self
    error.retryAfter = seconds
    return error
  }

  /// True if the cache alone is in the way.
  var isAboutCache: Bool {
    if case .cacheUnread = cause { true } else { false }
  }

  // The rules below are for an error as it was met, before `told`.

  /// The rule for the key's pause.
  var errorClass: TokenErrorClass {
    switch cause {
    case .unreached, .assertion, .managedIdentity, .cacheUnread, .actor: .transient
    case .metadata(let status, _): TokenErrorClass.isTransient(status: status) ? .transient : .configuration
    case .document: .configuration
    case .proof(_, let error): error.errorClass == .transient ? .transient : .configuration
    case .token(let failure): failure.errorClass
    case .interaction, .refused: .signInNeeded
    }
  }

  /// True if a failure with one caller's token would meet every other caller: the application is refused itself, told
  /// to wait, or has nothing to prove itself with. `inTenant`: every other caller of the same tenant only.
  func isOfEveryCaller(inTenant: Bool) -> Bool {
    switch cause {
    case .assertion, .proof, .managedIdentity, .actor: true
    case .metadata, .document: !inTenant
    case .token(let failure):
      switch failure.reply?.error {
      case "invalid_client": true
      case "unauthorized_client", "unsupported_grant_type": !inTenant
      default: failure.status == 429
      }
    case .unreached, .cacheUnread, .interaction, .refused: false
    }
  }

  /// True if the provider does not take this refresh token, so that another one may still serve.
  var isAboutRefreshToken: Bool {
    switch errorClass {
    case .signInNeeded, .policy, .familyMismatch, .refreshTokenUnusable, .declined: true
    case .configuration, .transient, .pending, .slowDown: false
    }
  }

  /// True if no provider was asked: the cache alone says so.
  var isLocal: Bool {
    switch cause {
    case .interaction(let required): required.reply == nil && required.reason != .userMismatch
    case .refused(let refused): refused.reply == nil
    case .cacheUnread: true
    case .unreached, .metadata, .document, .token, .assertion, .proof, .managedIdentity, .actor: false
    }
  }

  /// Seconds before the one repetition that callers wait for: at once if the connection died, a second after a server
  /// error without `Retry-After` (MSAL's rules). nil: none, as after a time limit that was used up.
  var repetition: Int64? {
    switch cause {
    case .unreached(.closed): 0
    case .metadata(let status, _) where status >= 500 && retryAfter == nil: 1
    case .token(let failure) where failure.status >= 500 && retryAfter == nil: 1
    default: nil
    }
  }
}
