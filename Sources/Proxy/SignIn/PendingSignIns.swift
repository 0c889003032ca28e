internal import Bytes
internal import Identity
internal import Tokens

/// The sign-ins that are under way in browsers, by their state: in memory, bounded, each good for one answer.
struct PendingSignIns {
  /// One of them.
  struct Entry: Sendable {
    var signIn: BrowserSignIn
    /// The browser it was begun in, by its cookie.
    var browser: Secret
    var form: SignInForm
    var requirement: RouteSignInRequirement
    /// What the route wanted then.
    var wanted: AcquisitionKey
    var begunAt: UnixTime
  }

  /// What an answer is to.
  enum Match {
    /// A sign-in of this browser, which is now used up.
    case found(Entry)
    /// One that took too long.
    case expired(SignInForm)
    /// One that has had its answer.
    case used(SignInForm)
    /// None of this listener's: another listener's, an older process's, or invented.
    case unknown
    /// Another browser's.
    case otherBrowser
  }

  private enum State {
    case waiting(Entry)
    case over(Secret, SignInForm, at: UnixTime)
  }

  /// How many are kept; the oldest goes first. One more is one more person in the middle of signing in.
  static let limit = 1024
  /// Seconds for which one that is over can still be explained.
  private static let memory: Int64 = 3600

  private var states: [String: State] = [:]

  /// Remembers one that begins.
  mutating func begin(_ entry: Entry) {
    let now = entry.begunAt
    states = states.filter { now - Self.time($0.value) < Self.memory }
    if states.count >= Self.limit, let oldest = states.min(by: { Self.time($0.value) < Self.time($1.value) }) {
      states[oldest.key] = nil
    }
    states[entry.signIn.state] = .waiting(entry)
  }

  /// The one that an answer with `state` is to, from a browser with one of these cookies, at most `lifetime` seconds
  /// after it began. It is over then, whatever comes of the answer.
  mutating func take(state: String, browsers: [String], now: UnixTime, lifetime: Int64) -> Match {
    guard let found = states[state] else { return .unknown }
    switch found {
    case .waiting(let entry):
      guard browsers.contains(where: { Secret($0) == entry.browser }) else { return .otherBrowser }
      states[state] = .over(entry.browser, entry.form, at: now)
      return now - entry.begunAt < lifetime ? .found(entry) : .expired(entry.form)
    case .over(let owner, let form, _):
      guard browsers.contains(where: { Secret($0) == owner }) else { return .otherBrowser }
      return .used(form)
    }
  }

  private static func time(_ state: State) -> UnixTime {
    switch state {
    case .waiting(let entry): entry.begunAt
    case .over(_, _, let at): at
    }
  }
}
