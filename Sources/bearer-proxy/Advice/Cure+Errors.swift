// The cures for errors that are the same for every route: those of the cache, and of a sign-in with `login`.

import Glibc
import HTTPClient
import Identity
import Platform
import Telemetry
import Tokens

extension CacheStoreError {
  var cure: Cure {
    switch self {
    case .damaged: .cacheDamaged
    case .abandoned: .cacheAbandoned
    case .file(.system(let error)), .lock(let error):
      error.isOutOfSpace ? .cacheSpace : error.number == EROFS ? .cacheReadOnly : .cacheRights
    case .file(.changedWhileRead): .cacheWriter
    case .file(.tooLarge): .cacheSize
    case .file(.noDirectory): .cacheDirectory
    case .file: .cacheOwner
    case .contended: .cacheContended
    case .locked: .cacheLocked
    case .sealed(.keyless), .sealed(.otherKey), .sealed(.library): .cacheKey
    case .sealed(.plain): .cacheClear
    case .sealed(.broken): .cacheMoved
    case .server(.sealed(_, let error)): Self.sealed(error).cure
    case .server(.credentials): .cacheCredentials
    case .server(.noPrimary): .cachePrimary
    case .server(.exposed): .cacheExposed
    case .server(.token): .cacheToken
    case .server(.nameless): .cacheObjectID
    case .server(.refused): .cacheCommands
    case .server(.damaged): .cacheEntry
    case .server(.notVersion): .cacheVersion
    case .server(.unreachable(let error)): Cure(wayToCache: error)
    case .server: .cacheServer
    }
  }
}

extension Cure {
  /// The cure for the way to a cache's server.
  init(wayToCache error: UpstreamError, isHandshake: Bool = false) {
    self =
      switch error {
      case .connect(.unresolved): .cacheHost
      case .connect(.forbiddenAddress): .forbiddenAddress
      case .connect(.refused), .proxyUnreachable, .proxy, .withoutHTTP2, .withoutWebSockets: .cacheListening
      case .connect(.timedOut), .timedOut: isHandshake ? .cacheNoTLS : .cacheFirewall
      case .tls: .cacheAuthority
      }
  }

  /// The cure for a sign-in; nil if the error says it itself, or no user of the command can do anything.
  init?(_ error: SignInError, isSilent: Bool) {
    switch error {
    case .provider(let error):
      switch error.kind {
      case .providerUnavailable(nil): self = .signInReachability
      case .providerUnavailable: self = .signInTrouble
      case .rejected: self = .signInCredential
      case .unusableMetadata: self = .signInAuthority
      case .interactionRequired, .cacheUnavailable, .assertionRefused: return nil
      }
    case .unsupported(.browser): self = .signInDeviceCode
    case .unsupported(.deviceCode): self = .signInBrowser
    case .unsupported(.registration): self = .signInRegistration
    case .unsupported(.domainHint): self = .signInDomainHint
    case .unsupported(.pkce): self = .signInPKCE
    case .timedOut: self = .signInRedirectURI
    case .codeExpired: self = .signInNewCode
    case .answer: self = .signInNewWindow
    case .refused where isSilent: self = .signInSilence
    case .otherAccount: self = .signInAccount
    case .notConfirmed: self = .signInOtherUser
    case .listener(_, port: .some): self = .signInPort
    case .refused where error.isInteractionRequired: self = .signInAnotherCode
    case .refused, .declined, .cancelled, .idToken, .withoutAccount, .listener, .crypto, .store: return nil
    }
  }
}
