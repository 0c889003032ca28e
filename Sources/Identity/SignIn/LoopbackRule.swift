struct LoopbackRequest: Sendable, Hashable {
  enum Method: Sendable { case get, post }

  var method: Method
  var path: String
  /// The query of a GET, or the posted form.
  var form: [UInt8]
  /// True if a browser asks before the person does: such a request would use up an address that works once.
  var isAhead = false
  /// True if a page of another origin causes the request.
  var isFromOtherPage = false
}

/// The requests of one sign-in, in their order.
struct LoopbackRule: Sendable {
  /// The reaction to a request.
  enum Action: Sendable, Hashable {
    case show(LoopbackPage)
    /// The browser goes to the provider.
    case begin
    /// It may be the provider's answer: its state decides.
    case answer([UInt8])
    /// True if the person keeps the sign-in.
    case decision(Bool)
  }

  /// The path that leads to the provider, once. Nothing else is in a browser's arguments, where every user of the
  /// machine can read it; only the browser gets the sign-in's state.
  let start: String
  /// The redirect URI's path.
  let callback: String
  /// The path of the page's form.
  let decision: String
  private var hasBegun = false
  private var hasAnswer = false
  private var asks = false

  init(start: String, callback: String, decision: String) {
    self.start = start
    self.callback = callback
    self.decision = decision
  }

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

  /// True for the first answer with the right state.
  mutating func takesAnswer() -> Bool {
    if hasAnswer { return false }
    hasAnswer = true
    return true
  }

  /// Makes the page ask the person from now on.
  mutating func ask() { asks = true }
}
