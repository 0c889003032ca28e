public import Bytes
public import HTTPClient
public import Platform
public import Tokens

/// Why a token could not be obtained. `ProblemDocument` turns it into the proxy's answers.
public indirect enum AcquisitionError: Error, Sendable, Hashable {
  /// The provider did not answer, or not as one. The same request may succeed after the pause: `503`.
  case providerUnavailable(ProviderTrouble, retryAfter: Int64)
  /// The provider refuses the application or its request: `502`. Its reply is for the log and for `token`, not for
  /// callers of the proxy, but for the code.
  case rejected(TokenErrorReply, retryAfter: Int64)
  /// The document at the authority's address is no metadata of that authority: `502`.
  case unusableMetadata(MetadataTrouble, retryAfter: Int64)
  /// The cache cannot be read, and no account is known from before: `503`. A person may well be signed in, so the
  /// caller is not told to sign in.
  case cacheUnavailable(retryAfter: Int64)
  /// A person has to sign in, choose, consent or prove more: `401`.
  case interactionRequired(InteractionRequired)
  /// The provider gives no token for the caller's own: `401` or `403`, and the caller can do something about it.
  case assertionRefused(AssertionRefused)

  /// Seconds after which a caller that was told so may ask again: the cache is looked for at least that often.
  static let cachePause: Int64 = 2

  /// True if a person can help, by signing in (MSAL's "UI required").
  public var isInteractionRequired: Bool {
    if case .interactionRequired = self { true } else { false }
  }

  /// True if the token that the caller brought is what is not enough.
  public var isAssertionRefused: Bool {
    if case .assertionRefused = self { true } else { false }
  }

  /// True if the cache alone is in the way.
  var isAboutCache: Bool {
    if case .cacheUnavailable = self { true } else { false }
  }

  /// Seconds until something is sent again, at least 1.
  package var retryAfter: Int64 {
    switch self {
    case .providerUnavailable(_, let seconds), .rejected(_, let seconds), .unusableMetadata(_, let seconds),
      .cacheUnavailable(let seconds):
      seconds
    case .interactionRequired(let required): required.retryAfter
    case .assertionRefused(let refused): refused.retryAfter
    }
  }

  /// The same with another pause: a remembered error is handed out later than it happened.
  func retrying(after seconds: Int64) -> AcquisitionError {
    switch self {
    case .providerUnavailable(let trouble, _): return .providerUnavailable(trouble, retryAfter: seconds)
    case .rejected(let reply, _): return .rejected(reply, retryAfter: seconds)
    case .unusableMetadata(let trouble, _): return .unusableMetadata(trouble, retryAfter: seconds)
    case .cacheUnavailable: return .cacheUnavailable(retryAfter: seconds)
    case .interactionRequired(var required):
      required.retryAfter = seconds
      return .interactionRequired(required)
    case .assertionRefused(var refused):
      refused.retryAfter = seconds
      return .assertionRefused(refused)
    }
  }
}

/// The way in which a provider was unavailable.
public enum ProviderTrouble: Sendable, Hashable {
  /// No answer.
  case unreached(FetchError)
  /// An answer without a usable token: 5xx, 429, an error page.
  case answered(status: Int)
  /// It was not asked: what the application proves itself with is not there. It may be in a moment.
  case assertion(ClientAssertionError)
  /// It was not asked: who hands out what proves the application gave nothing, for this reason.
  case proof(ClientProofSource, AcquisitionError)
  /// The service of a managed identity was asked in vain, for a reason on this machine.
  case managedIdentity(ManagedIdentityError)
  /// It was not asked: the token of who acts for the caller cannot be read.
  case actor(ClientAssertionError)
}

/// The mistake in metadata that did arrive.
public enum MetadataTrouble: Sendable, Hashable {
  /// A status that will not change by asking again (3xx, 4xx), with what the provider said beside it: Entra names a
  /// tenant that it does not know.
  case status(Int, TokenErrorReply?)
  /// A document that is not believed.
  case document(ProviderMetadataError)
}

/// Why there is no proof.
public enum ClientAssertionError: Error, Sendable, Hashable {
  /// The file cannot be read.
  case unreadable(path: String, FileReadError)
  /// The file contains no JWT: nothing of it is sent.
  case notSigned(path: String)
  /// The certificate's key made no signature.
  case unsigned(CryptoError)
  /// The JWT has ended by its own account: it is not sent.
  case expired(ClientAssertionOrigin, at: UnixTime)
  /// The command that prints the JWT did not.
  case command(AssertionCommandError)
}

/// The renewer of a JWT that proves an application.
public enum ClientAssertionOrigin: Sendable, Hashable {
  /// The program that keeps this file fresh.
  case file(path: String)
  /// The program that brought it.
  case program
  /// Its issuer, which was asked for it a moment ago.
  case issuer
}

/// Why a command gave no JWT.
public enum AssertionCommandError: Error, Sendable, Hashable {
  /// It cannot be started: the system's words.
  case notStarted(reason: String)
  /// It ran longer than it may, and was killed with what it had started.
  case timedOut(seconds: Int64)
  /// It printed more bytes than this.
  case tooLong(limit: Int)
  /// It ended with this exit status; the first line of its errors, if that may be shown.
  case failed(status: Int32, line: String?)
  /// A signal ended it.
  case killed(signal: Int32, line: String?)
  /// Its output is no signed JWT: nothing of it is sent.
  case notSigned
}

/// The source of an application's proof.
public enum ClientProofSource: Sendable, Hashable {
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

/// Why a managed identity has no token, beside what its service answers.
public enum ManagedIdentityError: Error, Sendable, Hashable {
  /// The agent of Azure Arc named no file that may be read.
  case arcChallenge
  /// The file that it named cannot be read.
  case arcKey(path: String, FileReadError)
  /// The answer names no identity, or another one than was asked for.
  case notConfirmed
}

/// Why silent acquisition was not enough, and what a sign-in has to bring (MSAL's "UI required"). Nothing in it is
/// secret.
public struct InteractionRequired: Sendable, Hashable {
  /// The kind.
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
  /// Seconds until the provider is asked again without a new sign-in, at least 1.
  package var retryAfter: Int64

  /// A need for a person.
  package init(
    reason: InteractionReason, scopes: ScopeSet, claims: Claims? = nil, accountName: String? = nil,
    authority: Authority,
    reply: TokenErrorReply? = nil, retryAfter: Int64 = 1
  ) {
    self.reason = reason
    self.scopes = scopes
    self.claims = claims
    self.accountName = accountName
    self.authority = authority
    self.reply = reply
    self.retryAfter = retryAfter
  }
}

extension InteractionRequired {
  /// The missing sign-in of a subscription.
  init(_ reason: InteractionReason, _ key: AcquisitionKey, reply: TokenErrorReply? = nil, retryAfter: Int64 = 1) {
    var name: String?
    if case .account(let written) = key.subject { name = written }
    self.init(
      reason: reason, scopes: key.scopes, claims: reply?.claims, accountName: name, authority: key.authority,
      reply: reply, retryAfter: retryAfter)
  }
}

/// Why a provider gave no token for a caller's. Nothing in it is secret.
public struct AssertionRefused: Sendable, Hashable {
  /// The kind.
  public var refusal: AssertionRefusal
  /// The requested scopes.
  public var scopes: ScopeSet
  /// Whom.
  public var authority: Authority
  /// The application that asked.
  public var clientID: String
  /// The provider's answer; nil if it was not asked. For the log, not for callers.
  package var reply: TokenErrorReply?
  /// Seconds until the provider is asked again for the same token, at least 1.
  package var retryAfter: Int64

  package init(_ refusal: AssertionRefusal, _ key: AcquisitionKey, reply: TokenErrorReply? = nil, retryAfter: Int64 = 1)
  {
    self.refusal = refusal
    scopes = key.scopes
    authority = key.authority
    clientID = key.clientID
    self.reply = reply
    self.retryAfter = retryAfter
  }
}
