public import Platform
public import Tokens

/// A failed sign-in.
public enum SignInError: Error, Sendable, Hashable {
  /// A way to sign in that a provider may lack.
  public enum Way: Sendable, Hashable {
    case browser, deviceCode
    /// Creating an account (`prompt=create`).
    case registration
    /// Beginning at the page of a domain.
    case domainHint
    /// With a code that is useless to others (PKCE), which the application requires.
    case pkce
  }

  /// The provider did not answer, its metadata or keys are not believed, or it refuses the application.
  case provider(AcquisitionError)
  /// The provider does not offer this way.
  case unsupported(Way)
  /// The provider gave an error instead of a code: more is required of a person or an administrator, or the code is
  /// used up.
  case refused(TokenErrorReply)
  /// The person, or a rule of the provider, declined.
  case declined(TokenErrorReply)
  /// The browser's request is no answer to this sign-in.
  case answer(AuthorizationReplyError)
  /// No answer came back from the browser in time.
  case timedOut(seconds: Int64)
  /// The device code was not confirmed in time.
  case codeExpired
  case cancelled
  /// The ID token is not valid.
  case idToken(JWTRefusal)
  /// The provider does not identify the person, so the tokens belong to no account.
  case withoutAccount
  /// Another person signed in than was expected; their tokens are not kept.
  case otherAccount(String)
  /// The person who signed in was asked, and is not the intended one. Nothing is kept.
  case notConfirmed(String)
  /// Listening on loopback failed; at this port, if one was chosen.
  case listener(SystemError, port: UInt16?)
  /// No random bytes, or no digest.
  case crypto(CryptoError)
  /// The sign-in succeeded, but it could not be written to the cache.
  case store(CacheStoreError)
}

extension SignInError {
  /// True if a person can help by signing in again, differently or more fully. Otherwise a machine, a setting or time
  /// is at fault.
  public var isInteractionRequired: Bool {
    switch self {
    case .refused(let reply): TokenErrorClass(reply, status: 400) == .signInNeeded
    case .declined, .otherAccount, .notConfirmed: true
    default: false
    }
  }

  /// A sentence without a full stop. `cachePath` names the cache's file if there is one.
  package func message(cachePath: String? = nil) -> String {
    switch self {
    case .provider(let error): "\(error.reason): \(error.detail)"
    case .unsupported(.browser): "the identity provider's metadata names no authorization_endpoint to sign in at"
    case .unsupported(.deviceCode): "the identity provider's metadata names no device_authorization_endpoint"
    case .unsupported(.registration):
      "the identity provider does not offer to create an account: its prompt_values_supported does not list 'create'"
    case .unsupported(.domainHint): "the identity provider knows no domain_hint, which is Microsoft's own"
    case .unsupported(.pkce):
      "the identity provider's code_challenge_methods_supported does not list S256, and the application has "
        + "require_pkce"
    case .refused(let reply): "the identity provider refuses the sign-in: \(reply.detail)"
    case .declined(let reply): "the sign-in was declined: \(reply.detail)"
    case .answer(.state):
      "the answer that came was not to this sign-in (its state is another one); nothing was used of it"
    case .answer(.issuer): "the answer that came names another issuer than the one asked; nothing was used of it"
    case .answer(.issuerMissing):
      "the answer that came does not name its issuer, as this provider's always do; nothing was used of it"
    case .answer(.malformed): "the answer that came cannot be read"
    case .answer(.withoutCode): "the answer that came has neither a code nor an error"
    case .answer(.refused(let reply)): "the identity provider refuses the sign-in: \(reply.detail)"
    case .timedOut(let seconds): "no answer came back from the browser within \(seconds) s"
    case .codeExpired: "the code was not confirmed in time and is no longer good"
    case .cancelled: "the sign-in was given up"
    case .idToken(let refusal): "the identity provider's ID token is not believed: \(refusal.ofIDToken)"
    case .withoutAccount: "the identity provider does not say who signed in, so its tokens are not kept"
    case .otherAccount(let name): "\(name) signed in, but another account was expected; nothing was kept"
    case .notConfirmed(let name): "\(name) signed in, which was not confirmed; nothing of it was kept"
    case .listener(let error, let port):
      "cannot listen on \(port.map { "127.0.0.1:\($0)" } ?? "127.0.0.1") for the browser's answer: \(error.description)"
    case .crypto(let error): "the cryptography library fails: \(error)"
    case .store(let error):
      "the sign-in succeeded, but the cache cannot be written: \(error.description(path: cachePath ?? "cache"))"
    }
  }
}

extension JWTRefusal {
  /// The words for the person who signs in.
  fileprivate var ofIDToken: String {
    switch self {
    case .parts, .tooLong, .base64url, .json: "it is not a signed JWT"
    case .algorithm(let name): "it is signed with '\(name.prefix(20))', not with RS256 or PS256"
    case .criticalExtension: "its header demands an unknown extension"
    case .unknownKey: "the provider publishes no key that it could be signed with"
    case .signature: "its signature is not the provider's"
    case .issuer: "its issuer is not the provider"
    case .audience: "it is meant for another application"
    case .withoutExpiry: "it has no expiry"
    case .expired: "it has expired; is this machine's clock right?"
    case .notYetValid: "it is not valid yet; is this machine's clock right?"
    case .absent, .nonce, .authorizedParty, .age, .headerType, .purpose, .idToken, .confirmation: description
    }
  }
}
