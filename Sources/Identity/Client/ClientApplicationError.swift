public import Platform
public import Tokens

/// The reason why a program has no token, or no application.
public enum ClientApplicationError: Error, Sendable, Hashable {
  /// The authority is not a URL of a provider.
  case authority(AuthorityError)
  /// The certificates to trust the authority by cannot be used.
  case trust(TLSConfigurationError)
  /// The certificate, or its file, cannot prove an application.
  case certificate(SigningCertificateError)
  /// Claims that cannot be added to its assertions.
  case assertionClaims(AssertionClaimsError)
  case file(path: String, FileError)
  /// There is no such identity here.
  case managedIdentity(ManagedIdentityMistake)
  /// The environment lacks this variable, or its value cannot be used.
  case environment(variable: String)
  /// The system gives no event loop.
  case system(SystemError)
  /// A word that cannot be a scope.
  case scope(ScopeError)
  /// Scopes that cannot be requested for a person.
  case accountScopes(ScopeError)
  /// Scopes that an application cannot request for itself.
  case applicationScopes(ScopeError)
  /// An audience or a resource that cannot be requested.
  case parameter(TokenParameterError)
  /// Silent acquisition, or the application's own request, failed.
  case acquisition(AcquisitionError)
  /// The sign-in did not succeed.
  case signIn(SignInError)
  /// The cache could not be written.
  case cache(CacheStoreError)

  /// True if a person can help, by signing in: MSAL's "UI required". Otherwise a program, a machine or time is at
  /// fault.
  public var isInteractionRequired: Bool {
    switch self {
    case .acquisition(let error): error.interactionRequired != nil
    case .signIn(let error): error.isInteractionRequired
    default: false
    }
  }

  /// The requirements for a sign-in after silent acquisition failed: the claims go into the interactive request.
  public var interactionRequired: InteractionRequired? {
    if case .acquisition(let error) = self { error.interactionRequired } else { nil }
  }
}

extension ClientApplicationError: CustomStringConvertible {
  /// A sentence for a log, without a secret.
  public var description: String {
    switch self {
    case .authority(let error): "not an authority: \(error)"
    case .trust(let error): "the trusted certificates cannot be used: \(error)"
    case .certificate(let error): "the certificate cannot be used: \(error)"
    case .assertionClaims(let error): "claims that cannot be added to assertions: \(error)"
    case .file(let path, let error): "cannot read \(path): \(error.description)"
    case .managedIdentity(let mistake): "no managed identity: \(mistake)"
    case .environment(let variable): "the environment's \(variable) is missing or cannot be used"
    case .system(let error): "no event loop: \(error.description)"
    case .scope(.word(let word)): "not a scope: '\(word)'"
    case .scope(let error): "not a scope: \(error)"
    case .accountScopes(let error): "scopes that cannot be asked for in a person's name: \(error)"
    case .applicationScopes(let error): "scopes that an application cannot ask for itself: \(error)"
    case .parameter(let error): "an audience or a resource that cannot be asked for: \(error)"
    case .acquisition(let error): "\(error.reason): \(error.detail)"
    case .signIn(let error): error.message()
    case .cache(let error): "the cache cannot be written: \(error.description(path: "cache"))"
    }
  }
}
