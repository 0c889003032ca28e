// Owns what can be offered for a new token without asking a person.

/// What silent acquisition has to offer for a token.
public enum AcquisitionMeans: Sendable {
  /// The application's credential.
  case clientCredentials
  /// An account's refresh tokens, at least one, in the order in which to try them.
  case refreshTokens([HeldRefreshToken])
  /// Nothing: a person has to come in.
  case nothing(InteractionReason)
  /// Not known: nothing was found, in a cache that cannot be read now. Somebody may well be signed in.
  case unknown

  /// Why there is nothing; nil where there is something.
  public var reason: InteractionReason? {
    if case .nothing(let reason) = self { reason } else { nil }
  }

  /// The refresh tokens, where they are what is offered.
  public var refreshTokens: [HeldRefreshToken] {
    if case .refreshTokens(let tokens) = self { tokens } else { [] }
  }
}
