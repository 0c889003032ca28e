internal import Bytes
internal import Identity
internal import Tokens

/// The sign-ins under way in browsers: in memory, bounded, each valid for one answer. If there is no room for another
/// one, a caller who has begun many loses one, and not another person.
struct PendingSignIns {
  struct Entry: Sendable {
    /// The name that the answer has for it.
    var state: String
    /// nil: it has had its answer, and is kept to explain a second one.
    var signIn: BrowserSignIn?
    /// The browser it was begun in, by its cookie.
    var browser: Secret
    var caller: SignInCaller
    var form: SignInForm
    var requirement: RouteSignInRequirement
    /// The route's key at its beginning.
    var wanted: AcquisitionKey
    /// The time of its beginning, or of its answer.
    var since: UnixTime
  }

  static let limit = 1024
  /// Maximum number of one browser: a few pages at once.
  static let browserLimit = 16
  /// Seconds for which a finished one can still be explained.
  private static let memory: Int64 = 3600

  private var entries: [Entry] = []

  mutating func begin(_ entry: Entry) {
    entries.removeAll { entry.since - $0.since >= Self.memory }
    if let leaving = Self.leaving(entries, for: entry.browser) { entries.removeAll { $0.state == leaving } }
    entries.append(entry)
  }

  /// The state to remove for one more of a browser; nil if there is room.
  ///
  /// It is the oldest of the browser's if that has enough; otherwise one of the caller with the most, first of all a
  /// finished one, then the oldest.
  static func leaving(_ entries: [Entry], for browser: Secret) -> String? {
    let own = entries.filter { $0.signIn != nil && $0.browser == browser }
    if own.count >= browserLimit { return own.min { $0.since < $1.since }?.state }
    if entries.count < limit { return nil }
    let counts = entries.reduce(into: [SignInCaller: Int]()) { $0[$1.caller, default: 0] += 1 }
    let most = counts.values.max()
    return entries.filter { counts[$0.caller] == most }
      .min { ($0.signIn == nil) == ($1.signIn == nil) ? $0.since < $1.since : $0.signIn == nil }?.state
  }

  /// The sign-in of an answer with `state`, from a browser with one of these cookies, at most `lifetime` seconds after
  /// it began. It is finished then, whatever the answer is.
  mutating func take(
    state: String, browsers: [String], now: UnixTime, lifetime: Int64
  ) throws(SignInPageFailure) -> (Entry, BrowserSignIn) {
    // Another one is another listener's, an older process's, or invented.
    guard let index = entries.firstIndex(where: { $0.state == state }) else { throw .unknownState }
    let entry = entries[index]
    guard browsers.contains(where: { Secret($0) == entry.browser }) else { throw .otherBrowser }
    guard let signIn = entry.signIn else { throw .used.retrying(entry.form) }
    (entries[index].signIn, entries[index].since) = (nil, now)
    guard now - entry.since < lifetime else { throw .expired.retrying(entry.form) }
    return (entry, signIn)
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
