// The sign-in that makes room for another one.

import Bytes
import Testing

@testable import Proxy

@Suite struct PendingSignInsTests {
  private static func place(
    _ state: String, _ browser: String, of caller: SignInCaller, isOver: Bool = false, since: Int64
  ) -> PendingSignIns.Place {
    PendingSignIns.Place(
      state: state, browser: Secret(browser), caller: caller, isOver: isOver, since: UnixTime(since))
  }

  private static let alice = SignInCaller(peer: "127.0.0.1", user: 1000)
  private static let mallory = SignInCaller(peer: "127.0.0.1", user: 1001)

  @Test func `a caller who begins 1,100 sign-ins loses their own, and no other person's`() {
    var places = [Self.place("alice", "hers", of: Self.alice, since: 0)]
    for number in 0..<1100 {
      let browser = "browser \(number)"
      if let leaving = PendingSignIns.leaving(places, for: Secret(browser)) {
        #expect(leaving == "\(number - PendingSignIns.limit + 1)")
        places.removeAll { $0.state == leaving }
      }
      places.append(Self.place("\(number)", browser, of: Self.mallory, since: Int64(1 + number)))
    }
    #expect(places.count == PendingSignIns.limit)
    #expect(places.contains { $0.state == "alice" })
    // She begins another one.
    #expect(PendingSignIns.leaving(places, for: Secret("hers")) == "77")
  }

  @Test func `a browser has few under way, and its oldest makes room`() {
    var places = (0..<PendingSignIns.browserLimit).map { number in
      Self.place("\(number)", "one", of: Self.alice, since: Int64(100 - number))
    }
    #expect(PendingSignIns.leaving(places, for: Secret("another")) == nil)
    #expect(PendingSignIns.leaving(places, for: Secret("one")) == "\(PendingSignIns.browserLimit - 1)")
    places[3].isOver = true
    #expect(PendingSignIns.leaving(places, for: Secret("one")) == nil)
  }

  @Test func `an answered connection makes room before a waiting one`() {
    var places = (0..<PendingSignIns.limit).map { number in
      Self.place("\(number)", "\(number)", of: Self.alice, since: Int64(number))
    }
    #expect(PendingSignIns.leaving(places, for: Secret("new")) == "0")
    places[700].isOver = true
    #expect(PendingSignIns.leaving(places, for: Secret("new")) == "700")
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
