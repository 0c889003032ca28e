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

  /// Several APIs on one address, each under its own path.
  init(_ apis: [SampleAPI]) {
    name = "api"
    digestsBody = { method, path in apis.contains { $0.digestsBody(method: method, path: path) } }
    answer = { request, now in
      guard let api = apis.first(where: { request.path.hasPrefix($0.root + "/") }) ?? apis.first else {
        return DemoAnswer(status: 404, json: ["error": "there is nothing here"])
      }
      return api.answer(request, now: now)
    }
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
