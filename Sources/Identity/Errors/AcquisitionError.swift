package import Bytes
package import HTTPClient
package import Platform
public import Tokens

/// A token that could not be obtained: the cause, and the time until another request. `ProblemDocument` turns it into
/// the proxy's answers.
public struct AcquisitionError: Error, Sendable, Hashable {
  /// The meaning of an error for its callers.
  public enum Kind: Sendable, Hashable {
    /// The provider did not answer, or not as one: 5xx, 429, an error page. The same request may succeed after the
    /// pause: `503`.
    case providerUnavailable(status: Int?)
    /// The provider refuses the application or its request: `502`. Its reply is for the log and for `token`, not for
    /// callers of the proxy, but for the code.
    case rejected(TokenErrorReply)
    /// The document at the authority's address is no metadata of that authority: `502`.
    case unusableMetadata
    /// The cache cannot be read, and no account is known from before: `503`. A person may well be signed in, so the
    /// caller is not told to sign in.
    case cacheUnavailable
    /// A person has to sign in, choose, consent or prove more: `401`.
    case interactionRequired(InteractionRequired)
    /// The provider gives no token for the caller's own: `401` or `403`, and the caller can do something about it.
    case assertionRefused(AssertionRefused)
  }

  package indirect enum Cause: Sendable, Hashable {
    /// The request for metadata or token got no answer.
    case unreached(FetchError)
    /// The metadata's address answered, but not with metadata. Entra names a tenant that it does not know.
    case metadata(status: Int, TokenErrorReply? = nil)
    case document(ProviderMetadataError)
    /// The token endpoint's answer held no token.
    case token(TokenFailure)
    /// The application has nothing to prove itself with. It may have in a moment.
    case assertion(ClientAssertionError)
    /// The source of the application's proof gave nothing.
    case proof(ClientProofSource, AcquisitionError)
    /// The machine's identity service was asked in vain, for a reason on this machine.
    case managedIdentity(ManagedIdentityError)
    /// The token of who acts for the caller cannot be read.
    case actor(ClientAssertionError)
    /// Nothing was found, in a cache that cannot be read.
    case cacheUnread
    /// A person has to come in.
    case interaction(InteractionRequired)
    /// The caller's token is not enough.
    case refused(AssertionRefused)
  }

  package var cause: Cause
  /// Seconds until something is sent again, at least 1: the pause that the provider asked for, and for callers the
  /// broker's. nil if the provider asked for none.
  public package(set) var retryAfter: Int64?

  package init(_ cause: Cause, retryAfter: Int64? = nil) {
    self.cause = cause
    self.retryAfter = retryAfter
  }

  package init(_ failure: TokenFailure) {
    self.init(.token(failure), retryAfter: failure.retryAfter)
  }

  /// The missing sign-in of a subscription.
  init(_ reason: InteractionReason, _ key: AcquisitionKey, reply: TokenErrorReply? = nil, retryAfter: Int64? = nil) {
    var name: String?
    if case .account(let written) = key.subject { name = written }
    let required = InteractionRequired(
      reason: reason, scopes: key.scopes, claims: reply?.claims, accountName: name, authority: key.authority,
      reply: reply)
    self.init(.interaction(required), retryAfter: retryAfter)
  }

  /// The meaning for callers.
  public var kind: Kind {
    switch cause {
    case .metadata(let status, _) where TokenErrorClass.isTransient(status: status):
      .providerUnavailable(status: status)
    case .metadata, .document: .unusableMetadata
    case .token(let failure): failure.refusal.map(Kind.rejected) ?? .providerUnavailable(status: failure.status)
    case .unreached, .assertion, .proof, .managedIdentity, .actor: .providerUnavailable(status: nil)
    case .cacheUnread: .cacheUnavailable
    case .interaction(let required): .interactionRequired(required)
    case .refused(let refused): .assertionRefused(refused)
    }
  }

  /// True if the same request may succeed later.
  package var isProviderUnavailable: Bool {
    if case .providerUnavailable = kind { true } else { false }
  }

  /// The sign-in that would help; nil if none would (MSAL's "UI required").
  public var interactionRequired: InteractionRequired? {
    if case .interaction(let required) = cause { required } else { nil }
  }

  /// The refusal of the caller's token; nil if another one would fare no better.
  public var assertionRefused: AssertionRefused? {
    if case .refused(let refused) = cause { refused } else { nil }
  }
}

/// The reason why a file, a program or a service gave no client assertion.
package enum ClientAssertionError: Error, Sendable, Hashable {
  /// The file cannot be read.
  case unreadable(path: String, FileError)
  /// The file contains no JWT, or the command printed none: nothing of it is sent. `path`: the file's.
  case notSigned(path: String?)
  /// The certificate's key made no signature.
  case unsigned(CryptoError)
  /// The JWT has ended by its own account: it is not sent.
  case expired(ClientAssertionOrigin, at: UnixTime)
  /// The command that prints the JWT did not. Its errors are what may be shown of them.
  case command(ExternalCommandError)
}

/// The renewer of a JWT that proves an application.
package enum ClientAssertionOrigin: Sendable, Hashable {
  /// The program that keeps this file fresh.
  case file(path: String)
  /// The program that brought it.
  case program
  /// Its issuer, which was asked for it a moment ago.
  case issuer
}

package enum ClientProofSource: Sendable, Hashable {
  /// The service of a managed identity, by its kind.
  case managedIdentity(String)
  /// Google Cloud's metadata server.
  case gcp
  /// The job service of GitHub Actions or Forgejo Actions.
  case githubActions
  /// A command, by its program's path.
  case command(String)
  /// Another application, by its name.
  case application(String)
}

/// A failure to get a managed identity's token that is no answer of its service.
package enum ManagedIdentityError: Error, Sendable, Hashable {
  /// The agent of Azure Arc named no file that may be read.
  case arcChallenge
  /// The file that it named cannot be read.
  case arcKey(path: String, FileError)
  /// The answer names no identity, or another one than was asked for.
  case notConfirmed
}

/// The reason why silent acquisition was not enough, and the demands on a sign-in (MSAL's "UI required"). Nothing in
/// it is secret.
public struct InteractionRequired: Sendable, Hashable {
  /// The reason, as MSAL classifies it.
  public var reason: InteractionReason
  /// The requested scopes.
  public var scopes: ScopeSet
  /// The claims that the provider demands, to be sent with the sign-in.
  public var claims: Claims?
  /// The requested account, as it was written; nil if none was named.
  package var accountName: String?
  /// The authority for the sign-in.
  public var authority: Authority
  /// The provider's answer; nil if it was not asked. For the log and for `token`, not for callers of the proxy.
  package var reply: TokenErrorReply?

  /// A need for a person.
  package init(
    reason: InteractionReason, scopes: ScopeSet, claims: Claims? = nil, accountName: String? = nil,
    authority: Authority, reply: TokenErrorReply? = nil
  ) {
    self.reason = reason
    self.scopes = scopes
    self.claims = claims
    self.accountName = accountName
    self.authority = authority
    self.reply = reply
  }
}

/// A provider's refusal of a caller's token. Nothing in it is secret.
public struct AssertionRefused: Sendable, Hashable {
  /// The kind of refusal.
  public var refusal: AssertionRefusal
  /// The requested scopes.
  public var scopes: ScopeSet
  /// The authority of the application that asked.
  public var authority: Authority
  /// The application that asked.
  public var clientID: String
  /// The provider's answer; nil if it was not asked. For the log, not for callers.
  package var reply: TokenErrorReply?

  package init(_ refusal: AssertionRefusal, _ key: AcquisitionKey, reply: TokenErrorReply? = nil) {
    self.refusal = refusal
    scopes = key.scopes
    authority = key.authority
    clientID = key.clientID
    self.reply = reply
  }
}
