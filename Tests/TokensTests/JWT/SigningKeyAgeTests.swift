import Bytes
import Testing
import Tokens

@Suite struct SigningKeyAgeTests {
  private static let start = UnixTime(1_700_000_000)

  @Test func `keys are needed first, and are fetched again after ten minutes`() {
    var age = SigningKeyAge()
    #expect(age.need(at: Self.start) == .keys)
    #expect(age.mayTry(at: Self.start))
    age.fetched(at: Self.start)
    for (seconds, need) in [(0, .none), (599, .none), (600, .refresh), (3599, .refresh), (3600, .keys)]
      as [(Int64, SigningKeyAge.Need)]
    {
      #expect(age.need(at: Self.start + seconds) == need, "\(seconds)")
    }
    // A clock that was set back does not tell the keys' age.
    #expect(age.need(at: Self.start - 1) == .keys)
    #expect(age.believedUntil == Self.start + 600)
  }

  @Test func `if fetching fails, keys serve for an hour, and the issuer is asked once a minute`() {
    var age = SigningKeyAge()
    age.fetched(at: Self.start)
    age.failed(at: Self.start + 600)
    #expect(age.need(at: Self.start + 659) == .none)
    #expect(age.believedUntil == Self.start + 660)
    #expect(age.need(at: Self.start + 660) == .refresh)
    age.failed(at: Self.start + 3580)
    #expect(age.believedUntil == Self.start + 3600)
    #expect(age.need(at: Self.start + 3599) == .none)
    #expect(age.need(at: Self.start + 3600) == .keys)
    age.fetched(at: Self.start + 3600)
    #expect(age.need(at: Self.start + 3600) == .none)
  }

  @Test func `without keys, the issuer is asked once in five seconds`() {
    var age = SigningKeyAge()
    age.failed(at: Self.start)
    for (seconds, need) in [(0, .pause), (4, .pause), (5, .keys), (-1, .keys)] as [(Int64, SigningKeyAge.Need)] {
      #expect(age.need(at: Self.start + seconds) == need, "\(seconds)")
    }
    age.fetched(at: Self.start + 5)
    #expect(age.need(at: Self.start + 5) == .none)
  }

  @Test func `an unknown key is looked for once a minute`() {
    var age = SigningKeyAge()
    age.fetched(at: Self.start)
    #expect(!age.mayTry(at: Self.start + 59))
    #expect(age.mayTry(at: Self.start + 60))
    #expect(age.mayTry(at: Self.start - 1))
  }
}
