import Identity
import Tokens

/// Cures for a sign-in with `login` that failed.
enum SignInCure: Cure {
  case trouble, reachability, credential, authority, deviceCode, browser, registration, domainHint, pkce
  case redirectURI, newCode, newWindow, silence, account, otherUser, port, anotherCode

  func text(_ parts: CureParts) -> String {
    let application = "\(parts.application) in \(parts.configuration)"
    switch self {
    case .trouble: return "The provider has trouble of its own: try again later."
    case .reachability: return "Does this machine reach \(parts.authority)? Then try again."
    case .credential: return "Check client_id and credential of \(application)."
    case .authority: return "Check the authority of \(application)."
    case .deviceCode: return "Try --device-code."
    case .browser: return "Sign in without --device-code, on a machine with a browser."
    case .registration: return "Create the account at the provider first, then sign in without --prompt create."
    case .domainHint: return "Sign in without --domain-hint."
    case .pkce:
      return "Have the provider support PKCE with S256 and say so, or remove require_pkce from \(application)."
    case .redirectURI:
      return "If the browser showed an error, look there: client_id of \(application) needs the redirect URI "
        + "\(parts.redirectURI) at the provider\(parts.otherRedirectURI). For a provider that compares ports "
        + "choose one with --port, or the whole URI with --redirect-uri. On a machine without a browser: --device-code."
    case .newCode: return "Run the command again for a new code."
    case .newWindow: return "Run the command again, and finish the sign-in in the window that it opens."
    case .silence: return "Nothing may be shown with --prompt none: sign in without it."
    case .account: return "Sign in with the account that was meant; --prompt select_account offers a choice."
    case .otherUser: return "If you did not sign in as that person, another user of this machine may have tried."
    case .port: return "Another program may use that port."
    case .anotherCode: return "Run the command again; codes are good once, and for minutes."
    }
  }

  /// The cure for an error; nil if the error says it itself, or no user of the command can do anything.
  init?(_ error: SignInError, isSilent: Bool) {
    switch error {
    case .provider(let error):
      switch error.kind {
      case .providerUnavailable(nil): self = .reachability
      case .providerUnavailable: self = .trouble
      case .rejected: self = .credential
      case .unusableMetadata: self = .authority
      case .interactionRequired, .cacheUnavailable, .assertionRefused: return nil
      }
    case .unsupported(.browser): self = .deviceCode
    case .unsupported(.deviceCode): self = .browser
    case .unsupported(.registration): self = .registration
    case .unsupported(.domainHint): self = .domainHint
    case .unsupported(.pkce): self = .pkce
    case .timedOut: self = .redirectURI
    case .codeExpired: self = .newCode
    case .answer: self = .newWindow
    case .refused where isSilent: self = .silence
    case .otherAccount: self = .account
    case .notConfirmed: self = .otherUser
    case .listener(_, port: .some): self = .port
    case .refused where error.isInteractionRequired: self = .anotherCode
    case .refused, .declined, .cancelled, .idToken, .withoutAccount, .listener, .crypto, .store: return nil
    }
  }
}
