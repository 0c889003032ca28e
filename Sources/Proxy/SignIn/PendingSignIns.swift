internal import Bytes
internal import Identity
internal import Tokens

/// The sign-ins under way in browsers, by their state: in memory, bounded, each valid for one answer. If there is no
/// room for another one, a caller who has begun many loses one, and not another person.
struct PendingSignIns {
  struct Entry: Sendable {
    var signIn: BrowserSignIn
    /// The browser it was begun in, by its cookie.
    var browser: Secret
    var caller: SignInCaller
    var form: SignInForm
    var requirement: RouteSignInRequirement
    /// The route's key at that time.
    var wanted: AcquisitionKey
    var begunAt: UnixTime
  }

  indirect enum Match {
    /// A sign-in of this browser, which is now used up.
    case found(Entry)
    case expired(SignInForm)
    case used(SignInForm)
    /// None of this listener's: another listener's, an older process's, or invented.
    case unknown
    case otherBrowser
  }

  private indirect enum State {
    case waiting(Entry)
    case over(Secret, SignInCaller, SignInForm, at: UnixTime)
  }

  struct Place {
    var state: String
    var browser: Secret
    var caller: SignInCaller
    /// True if it has had its answer, and is kept to explain a second one.
    var isOver = false
    var since: UnixTime
  }

  static let limit = 1024
  /// Maximum number of one browser: a few pages at once.
  static let browserLimit = 16
  /// Seconds for which a finished one can still be explained.
  private static let memory: Int64 = 3600

  private var states: [String: State] = [:]

  mutating func begin(_ entry: Entry) {
    let now = entry.begunAt
    var places = states.map { Self.place($0.key, $0.value) }
    for place in places where now - place.since >= Self.memory { states[place.state] = nil }
    places.removeAll { now - $0.since >= Self.memory }
    if let leaving = Self.leaving(places, for: entry.browser) { states[leaving] = nil }
    states[entry.signIn.state] = .waiting(entry)
  }

  /// The state to remove for one more of a browser; nil if there is room.
  ///
  /// It is the oldest of the browser's if that has enough; otherwise one of the caller with the most, first of all a
  /// finished one, then the oldest.
  static func leaving(_ places: [Place], for browser: Secret) -> String? {
    let own = places.filter { !$0.isOver && $0.browser == browser }
    if own.count >= browserLimit { return own.min { $0.since < $1.since }?.state }
    if places.count < limit { return nil }
    let counts = places.reduce(into: [SignInCaller: Int]()) { $0[$1.caller, default: 0] += 1 }
    let most = counts.values.max()
    return places.filter { counts[$0.caller] == most }
      .min { $0.isOver == $1.isOver ? $0.since < $1.since : $0.isOver }?.state
  }

  /// The sign-in of an answer with `state`, from a browser with one of these cookies, at most `lifetime` seconds after
  /// it began. It is finished then, whatever the answer is.
  mutating func take(state: String, browsers: [String], now: UnixTime, lifetime: Int64) -> Match {
    guard let found = states[state] else { return .unknown }
    switch found {
    case .waiting(let entry):
      guard browsers.contains(where: { Secret($0) == entry.browser }) else { return .otherBrowser }
      states[state] = .over(entry.browser, entry.caller, entry.form, at: now)
      return now - entry.begunAt < lifetime ? .found(entry) : .expired(entry.form)
    case .over(let owner, _, let form, _):
      guard browsers.contains(where: { Secret($0) == owner }) else { return .otherBrowser }
      return .used(form)
    }
  }

  private static func place(_ name: String, _ state: State) -> Place {
    switch state {
    case .waiting(let entry):
      Place(state: name, browser: entry.browser, caller: entry.caller, since: entry.begunAt)
    case .over(let browser, let caller, _, let at):
      Place(state: name, browser: browser, caller: caller, isOver: true, since: at)
    }
  }
}

/// The beginner of sign-ins, by the connection: those of one caller make room for one another.
struct SignInCaller: Sendable, Hashable {
  private let text: String

  /// - Parameters:
  ///   - peer: the address of the connection's other end; empty for a unix socket.
  ///   - user: the user of its process, if that is on this machine and known.
  init(peer: String, user: UInt32?) {
    let address = IPAddress(peer.prefix { $0 != "%" })?.unmapped
    let place =
      // One machine has all addresses of such a network.
      if case .v6(let bytes) = address, address?.isLoopback == false {
        IPAddress.v6(Array(bytes.prefix(8)) + [UInt8](repeating: 0, count: 8)).description
      } else if address?.isLoopback == true || peer.isEmpty {
        "this machine"
      } else {
        address?.description ?? peer
      }
    text = user.map { "\(place) \($0)" } ?? place
  }
}
