// Owns the seam between the rules of this module and its server: one function from request to answer.

internal import Tokens

/// Something that answers requests, and how it is called in the demonstration's log.
struct DemoService: Sendable {
  var name: String
  /// Whether a body is to be digested as it arrives, so that it may be of any size. Others are kept, up to 64 KiB.
  var digestsBody: @Sendable (_ method: String, _ path: String) -> Bool
  var answer: @Sendable (_ request: DemoRequest, _ now: UnixTime) -> DemoAnswer

  init(_ provider: IdentityProvider) {
    name = "provider"
    digestsBody = { _, _ in false }
    answer = provider.answer
  }

  init(_ api: SampleAPI) {
    name = "api"
    digestsBody = api.digestsBody
    answer = api.answer
  }
}

/// One finished exchange, for the demonstration's log.
public struct DemoExchange: Sendable {
  /// `provider` or `api`.
  public var service: String
  /// The request's method.
  public var method: String
  /// The request's path.
  public var path: String
  /// The answer's status.
  public var status: Int
  /// A few words about it: never a token or a secret.
  public var note: String
}
