// The sorting of everything that can go wrong on the way to a token: what callers are told, how long the key pauses,
// and whether one more try at once is worth it.

internal import HTTPClient
internal import Tokens

/// A failed attempt, before it becomes what callers are told.
indirect enum AcquisitionFailure: Error, Hashable {
  /// The request for metadata or token got no answer.
  case unreached(FetchError)
  /// The metadata's address answered, but not with metadata.
  case metadata(status: Int, retryAfter: Int64?, reply: TokenErrorReply? = nil)
  /// The metadata is not believed.
  case document(ProviderMetadataError)
  /// The token endpoint's answer held no token.
  case token(TokenFailure)
  /// The refresh token is not for these scopes. Another one may be, and else a sign-in that asks for them.
  case scopesNotGranted(TokenFailure)
  /// The application has nothing to prove itself with.
  case assertion(ClientAssertionError)
  /// The source of the application's proof gave nothing.
  case proof(ClientProofSource, AcquisitionFailure)
  /// The machine's identity service was asked in vain.
  case managedIdentity(ManagedIdentityError)
  /// Nothing was found, in a cache that cannot be read.
  case cacheUnread
  /// The token of who acts for the caller cannot be read.
  case actor(ClientAssertionError)
  /// The caller's token has ended, or names no tenant although one is needed: no provider was asked.
  case assertionUnusable
  /// Nothing was asked, or the answer is of no use: a person has to come in.
  case interaction(InteractionReason)

  /// The rule for the key's pause.
  var errorClass: TokenErrorClass {
    switch self {
    case .unreached, .assertion, .managedIdentity, .cacheUnread, .actor: .transient
    case .metadata(let status, _, _): Self.isTransient(status) ? .transient : .configuration
    case .document: .configuration
    case .proof(_, let failure): failure.errorClass == .transient ? .transient : .configuration
    case .token(let failure): failure.errorClass
    case .interaction, .scopesNotGranted, .assertionUnusable: .signInNeeded
    }
  }

  /// Seconds that the provider asked to be left alone.
  var retryAfter: Int64? {
    switch self {
    case .unreached, .document, .assertion, .managedIdentity, .cacheUnread, .interaction, .actor, .assertionUnusable:
      nil
    case .metadata(_, let seconds, _): seconds
    case .token(let failure), .scopesNotGranted(let failure): failure.retryAfter
    case .proof(_, let failure): failure.retryAfter
    }
  }

  /// The error for callers. Only a person's subscription ever needs a person.
  func error(for key: AcquisitionKey, retryAfter seconds: Int64) -> AcquisitionError {
    switch self {
    case .unreached(let error): .providerUnavailable(.unreached(error), retryAfter: seconds)
    case .metadata(let status, _, _) where Self.isTransient(status):
      .providerUnavailable(.answered(status: status), retryAfter: seconds)
    case .metadata(let status, _, let reply): .unusableMetadata(.status(status, reply), retryAfter: seconds)
    case .document(let error): .unusableMetadata(.document(error), retryAfter: seconds)
    case .assertion(let error): .providerUnavailable(.assertion(error), retryAfter: seconds)
    case .proof(let source, let failure):
      .providerUnavailable(
        .proof(source, failure.error(for: key.ofApplication, retryAfter: seconds)), retryAfter: seconds)
    case .managedIdentity(let error): .providerUnavailable(.managedIdentity(error), retryAfter: seconds)
    case .cacheUnread: .cacheUnavailable(retryAfter: AcquisitionError.cachePause)
    case .actor(let error): .providerUnavailable(.actor(error), retryAfter: seconds)
    case .assertionUnusable: .assertionRefused(AssertionRefused(.invalidToken, key, retryAfter: seconds))
    case .token(let failure):
      if let refused = Self.refused(failure, key, seconds) {
        .assertionRefused(refused)
      } else if case .refused(let reply) = failure.cause, failure.errorClass != .transient {
        key.subject.isAccount && isAboutRefreshToken
          ? .interactionRequired(
            InteractionRequired(InteractionReason(reply), key, reply: reply, retryAfter: seconds))
          : .rejected(reply, retryAfter: seconds)
      } else {
        .providerUnavailable(.answered(status: failure.status), retryAfter: seconds)
      }
    case .scopesNotGranted(let failure):
      .interactionRequired(
        InteractionRequired(.consentRequired, key, reply: failure.reply, retryAfter: seconds))
    case .interaction(let reason):
      .interactionRequired(InteractionRequired(reason, key, retryAfter: seconds))
    }
  }

  /// The provider's refusal of a caller's token, if that is the failure.
  private static func refused(_ failure: TokenFailure, _ key: AcquisitionKey, _ seconds: Int64) -> AssertionRefused? {
    guard case .caller(_, let grant) = key.subject, case .refused(let reply) = failure.cause,
      failure.errorClass != .transient, let refusal = AssertionRefusal(reply, grant: grant)
    else { return nil }
    return AssertionRefused(refusal, key, reply: reply, retryAfter: seconds)
  }

  /// True if a failure with one caller's token would meet every other caller: the application is refused itself, told
  /// to wait, or has nothing to prove itself with. `inTenant`: every other caller of the same tenant only.
  func isOfEveryCaller(inTenant: Bool) -> Bool {
    switch self {
    case .assertion, .proof, .managedIdentity, .actor: true
    case .metadata, .document: !inTenant
    case .token(let failure):
      switch failure.reply?.error {
      case "invalid_client": true
      case "unauthorized_client", "unsupported_grant_type": !inTenant
      default: failure.status == 429
      }
    case .unreached, .scopesNotGranted, .cacheUnread, .assertionUnusable, .interaction: false
    }
  }

  /// True if it is this refresh token, or the person behind it, that the provider does not take. Another one may still
  /// serve; after every other failure it would fare no better.
  var isAboutRefreshToken: Bool {
    switch errorClass {
    case .signInNeeded, .policy, .familyMismatch, .refreshTokenUnusable, .declined: true
    case .configuration, .transient, .pending, .slowDown: false
    }
  }

  /// True if no provider was asked: the cache alone says so.
  var isLocal: Bool {
    switch self {
    case .interaction(.userMismatch): false
    case .interaction, .cacheUnread, .assertionUnusable: true
    case .unreached, .metadata, .document, .token, .scopesNotGranted, .assertion, .proof, .managedIdentity, .actor:
      false
    }
  }

  /// Seconds to wait before the one repetition that callers wait for; nil if there is none. A connection that died
  /// under the request is repeated at once, a server error without `Retry-After` after a second (MSAL's rules). A time
  /// limit that was used up is not spent twice.
  var repetition: Int64? {
    switch self {
    case .unreached(.closed): 0
    case .metadata(let status, nil, _) where status >= 500: 1
    case .token(let failure) where failure.status >= 500 && failure.retryAfter == nil: 1
    default: nil
    }
  }

  private static func isTransient(_ status: Int) -> Bool {
    status >= 500 || status == 429 || status == 408
  }
}

extension AcquisitionKey {
  /// The same for the application itself: what proves it is no person's.
  fileprivate var ofApplication: AcquisitionKey {
    var own = self
    own.subject = .application
    return own
  }
}
