// What the loopback listener does with each request of a sign-in: which leads to the provider, which may be its answer,
// which is the person's decision.

internal import HTTP

/// A request to the loopback listener, small and whole.
struct LoopbackRequest: Sendable, Hashable {
  enum Method: Sendable { case get, post }

  var method: Method
  var path: String
  /// The query of a GET, or the posted form.
  var form: [UInt8]
  /// Whether a browser asks before the person does: such a request would use up what is good once.
  var isAhead = false
  /// Whether a page of another origin causes the request.
  var isFromOtherPage = false
}

/// The requests of one sign-in, in their order.
struct LoopbackRule: Sendable {
  /// What is done with a request.
  enum Action: Sendable, Hashable {
    case show(LoopbackPage)
    /// The browser goes to the provider.
    case begin
    /// It may be the provider's answer: its state tells.
    case answer([UInt8])
    /// Whether the person keeps the sign-in.
    case decision(Bool)
  }

  /// The path that leads to the provider, once. It is all that stands in a browser's arguments, where every user of the
  /// machine can read it; the sign-in's state is told to the browser alone.
  let start: String
  /// The redirect URI's path.
  let callback: String
  /// Where the page's question is answered.
  let decision: String
  private var hasBegun = false
  private var hasAnswer = false
  private var asks = false

  init(start: String, callback: String, decision: String) {
    self.start = start
    self.callback = callback
    self.decision = decision
  }

  /// Judges a request.
  mutating func action(for request: LoopbackRequest) -> Action {
    switch (request.method, request.path) {
    case (.get, start):
      if request.isAhead { return .show(.nothingHere) }
      if hasBegun { return .show(.begunBefore) }
      hasBegun = true
      return .begin
    case (.get, callback) where request.form.isEmpty: return .show(.nothingHere)
    case (_, callback): return hasAnswer ? .show(.answeredBefore) : .answer(request.form)
    case (.post, decision) where asks && !request.isFromOtherPage:
      asks = false
      return .decision(request.form == Array("keep=yes".utf8))
    default: return .show(.nothingHere)
    }
  }

  /// Takes an answer with the right state: the first alone counts.
  mutating func takesAnswer() -> Bool {
    if hasAnswer { return false }
    hasAnswer = true
    return true
  }

  /// The page asks the person from now on.
  mutating func ask() { asks = true }
}
