// The sign-in that makes room for another one, and the one that an answer is for.

import Bytes
import HTTPClient
import Identity
import Testing
import Tokens

@testable import Proxy

@Suite struct PendingSignInsTests {
  private static func change(
    _ entry: PendingSignIns.Entry, _ state: String, _ browser: String, of caller: SignInCaller, since: Int64
  ) -> PendingSignIns.Entry {
    var entry = entry
    (entry.state, entry.browser, entry.caller) = (state, Secret(browser), caller)
    entry.since = UnixTime(since)
    return entry
  }

  private static let alice = SignInCaller(peer: "127.0.0.1", user: 1000)
  private static let mallory = SignInCaller(peer: "127.0.0.1", user: 1001)

  @Test func `a caller who begins 1,100 sign-ins loses their own, and no other person's`() async throws {
    let entry = try await Self.entry()
    var places = [Self.change(entry, "alice", "hers", of: Self.alice, since: 0)]
    for number in 0..<1100 {
      let browser = "browser \(number)"
      if let leaving = PendingSignIns.leaving(places, for: Secret(browser)) {
        #expect(leaving == "\(number - PendingSignIns.limit + 1)")
        places.removeAll { $0.state == leaving }
      }
      places.append(Self.change(entry, "\(number)", browser, of: Self.mallory, since: Int64(1 + number)))
    }
    #expect(places.count == PendingSignIns.limit)
    #expect(places.contains { $0.state == "alice" })
    // She begins another one.
    #expect(PendingSignIns.leaving(places, for: Secret("hers")) == "77")
  }

  @Test func `a browser has few under way, and its oldest makes room`() async throws {
    let entry = try await Self.entry()
    var places = (0..<PendingSignIns.browserLimit).map { number in
      Self.change(entry, "\(number)", "one", of: Self.alice, since: Int64(100 - number))
    }
    #expect(PendingSignIns.leaving(places, for: Secret("another")) == nil)
    #expect(PendingSignIns.leaving(places, for: Secret("one")) == "\(PendingSignIns.browserLimit - 1)")
    places[3].signIn = nil
    #expect(PendingSignIns.leaving(places, for: Secret("one")) == nil)
  }

  @Test func `an answered connection makes room before a waiting one`() async throws {
    let entry = try await Self.entry()
    var places = (0..<PendingSignIns.limit).map { number in
      Self.change(entry, "\(number)", "\(number)", of: Self.alice, since: Int64(number))
    }
    #expect(PendingSignIns.leaving(places, for: Secret("new")) == "0")
    places[700].signIn = nil
    #expect(PendingSignIns.leaving(places, for: Secret("new")) == "700")
  }

  /// A sign-in under way, begun at 0 in the browser `hers`.
  private static func entry() async throws -> PendingSignIns.Entry {
    let metadata =
      #"{"issuer": "https://id.example", "token_endpoint": "https://id.example/t", "#
      + #""authorization_endpoint": "https://id.example/a"}"#
    let application = Application(
      name: "desk", authority: try Authority("https://id.example"), clientID: "client",
      credential: nil,
      fetch: { _ async throws(FetchError) in FetchResponse(status: 200, body: Array(metadata.utf8)) })
    let scopes = try ScopeSet(["orders.read"])
    let signIn = try await BrowserSignIn.begin(
      SignInRequest(application: application, scopes: scopes), redirectURI: "http://localhost/.bearer/callback",
      store: CacheStore.memory(), broker: TokenBroker(TokenBroker.Surroundings(now: { UnixTime(0) })),
      now: { UnixTime(0) })
    return PendingSignIns.Entry(
      state: signIn.state, signIn: signIn, browser: Secret("hers"), caller: alice, form: SignInForm(route: "orders"),
      requirement: RouteSignInRequirement(nil, configured: scopes, now: UnixTime(0)),
      wanted: TokenSubscription(application: application, subject: .account(nil), scopes: scopes).key,
      since: UnixTime(0))
  }

  /// The time of the first answer, and what comes of it with sign-ins that have ten minutes.
  @Test(
    arguments: [(0, "found"), (599, "found"), (600, "This sign-in has expired/.bearer/sign-in?route=orders")]
      as [(Int64, String)])
  func `an answer counts once, in time, from the browser that began`(time: Int64, first: String) async throws {
    var pending = PendingSignIns()
    let entry = try await Self.entry()
    pending.begin(entry)
    func take(_ state: String, _ browsers: [String]) -> String {
      do throws(SignInPageFailure) {
        let found = try pending.take(state: state, browsers: browsers, now: UnixTime(time), lifetime: 600)
        return found.0.form == entry.form && found.1.state == state ? "found" : "another"
      } catch {
        return "\(error.heading)\(error.retry ?? "")"
      }
    }
    let state = entry.state
    let isOthers = "Another browser's sign-in"
    #expect(take("invented", ["hers"]) == "Unknown sign-in")
    // Another browser's answer does not use it up.
    #expect(take(state, []) == isOthers && take(state, ["his"]) == isOthers)
    #expect(take(state, ["planted", "hers"]) == first)
    #expect(take(state, ["hers"]) == "This sign-in is over/.bearer/sign-in?route=orders")
    #expect(take(state, ["his"]) == isOthers)
  }

  static let callers: [(one: SignInCaller, other: SignInCaller, areSame: Bool)] = [
    (SignInCaller(peer: "192.0.2.1", user: nil), SignInCaller(peer: "192.0.2.1", user: nil), true),
    (SignInCaller(peer: "192.0.2.1", user: nil), SignInCaller(peer: "192.0.2.2", user: nil), false),
    (SignInCaller(peer: "::ffff:192.0.2.1", user: nil), SignInCaller(peer: "192.0.2.1", user: nil), true),
    // A machine has a whole network of addresses.
    (SignInCaller(peer: "2001:db8:1:2::3", user: nil), SignInCaller(peer: "2001:db8:1:2:9::4", user: nil), true),
    (SignInCaller(peer: "2001:db8:1:2::3", user: nil), SignInCaller(peer: "2001:db8:1:3::3", user: nil), false),
    (SignInCaller(peer: "fe80::1%eth0", user: nil), SignInCaller(peer: "fe80::2%eth1", user: nil), true),
    // On this machine it is the user.
    (SignInCaller(peer: "127.0.0.1", user: 1000), SignInCaller(peer: "127.9.9.9", user: 1000), true),
    (SignInCaller(peer: "127.0.0.1", user: 1000), SignInCaller(peer: "::1", user: 1000), true),
    (SignInCaller(peer: "127.0.0.1", user: 1000), SignInCaller(peer: "127.0.0.1", user: 1001), false),
    (SignInCaller(peer: "", user: 1000), SignInCaller(peer: "127.0.0.1", user: 1000), true),
  ]

  @Test(arguments: callers)
  func `a caller is a machine, and on this machine a user`(one: SignInCaller, other: SignInCaller, areSame: Bool) {
    #expect((one == other) == areSame)
  }
}
