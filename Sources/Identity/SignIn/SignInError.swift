// Owns how sign-ins end badly. Each end has one sentence, in the file beside this.

public import Network
public import Tokens

/// Why nobody signed in.
public enum SignInError: Error, Sendable, Hashable {
  /// A way to sign in that a provider may lack.
  public enum Way: Sendable, Hashable {
    case browser, deviceCode
  }

  /// Why an ID token is not believed.
  public enum IDTokenProblem: Error, Sendable, Hashable {
    /// There is none, so nobody knows who signed in.
    case absent
    /// Not a JWT.
    case format(JWTFormatError)
    /// A JWT that is not the provider's, or not for this sign-in.
    case rejected(IDTokenRejection)
  }

  /// The provider did not answer, its metadata or keys are not believed, or it refuses the application.
  case provider(AcquisitionError)
  /// The provider does not offer this way.
  case unsupported(Way)
  /// The provider gave an error instead of signing somebody in: more is needed of a person or an administrator, or the code
  /// that was brought is used up.
  case refused(TokenErrorReply)
  /// The person, or a rule of the provider in their stead, said no.
  case declined(TokenErrorReply)
  /// What the browser brought is no answer to this sign-in.
  case answer(AuthorizationReplyError)
  /// Nobody came back from the browser in time.
  case timedOut(seconds: Int64)
  /// The device code was not confirmed in time.
  case codeExpired
  /// Whoever asked for the sign-in gave it up.
  case cancelled
  /// The ID token is not believed.
  case idToken(IDTokenProblem)
  /// The provider does not say who signed in, so the tokens are nobody's.
  case withoutAccount
  /// Somebody else signed in than was expected; their tokens are not kept.
  case otherAccount(String)
  /// The person who signed in was not the one who was meant: they were asked, and said no. Nothing is kept.
  case notConfirmed(String)
  /// Loopback cannot be listened on; at this port, where one was chosen.
  case listener(SystemError, port: UInt16?)
  /// No random bytes, or no digest.
  case crypto(CryptoError)
  /// Somebody signed in, but that could not be written down.
  case store(CacheStoreError)
}
