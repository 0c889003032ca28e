import Bytes
import Testing
import Tokens

@Suite struct SignInRequirementTests {
  private let now = UnixTime(1_700_000_000)

  private func full() throws -> SignInRequirement {
    SignInRequirement(
      claims: try Claims(json: #"{"access_token":{"nbf":1}}"#), scopes: try ScopeSet(["B", "C"]),
      authenticationContexts: ["c1", "c2"], maxAge: 60, since: now)
  }

  @Test func `needs join, and what was said last counts`() throws {
    let later = SignInRequirement(
      claims: try Claims(json: #"{"access_token":{"acrs":2}}"#), scopes: try ScopeSet(["D"]), maxAge: 5, since: now + 9)
    let both = try full().merged(with: later)
    #expect(both.claims?.text == #"{"access_token":{"acrs":2,"nbf":1}}"#)
    #expect(both.scopes.words == ["B", "C", "D"])
    #expect(both.authenticationContexts == ["c1", "c2"])
    #expect(both.maxAge == 5)
    #expect(both.since == now + 9)
    let many = SignInRequirement(scopes: try ScopeSet((0..<64).map { "s\($0)" }), since: now)
    #expect(try full().merged(with: many).scopes == many.scopes)
  }

  @Test func `a need is over after a day`() throws {
    let need = try full()
    #expect(!need.isOver(at: now))
    #expect(!need.isOver(at: now + (SignInRequirement.lifetime - 1)))
    #expect(need.isOver(at: now + SignInRequirement.lifetime))
    #expect(need.isOver(at: now + -3600))
  }

  @Test func `a need is written and read whole`() throws {
    for need in [try full(), SignInRequirement(maxAge: 0, since: now), SignInRequirement(since: now)] {
      #expect(SignInRequirement(need.json) == need)
    }
    for text in ["{}", "[]", #"{"since":1,"claims":"x"}"#, #"{"since":1,"scopes":["a b"]}"#] {
      #expect(SignInRequirement(try #require(JSONValue(json: Array(text.utf8)))) == nil)
    }
  }

  @Test func `a sign-in meets what it was asked for`() throws {
    let need = try full()
    #expect(need.isMet(by: need))
    var less = need
    less.claims = nil
    #expect(!need.isMet(by: less))
    less = need
    less.scopes = try ScopeSet(["B"])
    #expect(!need.isMet(by: less))
    #expect(SignInRequirement(since: now).isEmpty)
    #expect(!need.isEmpty)
  }

  @Test func `a need is covered by one that asks for all of it, and not by one that asks for less or came before`()
    throws
  {
    let met = try full()
    func changed(_ change: (inout SignInRequirement) -> Void) -> SignInRequirement {
      var need = met
      change(&need)
      return need
    }
    for covered in [
      met, changed { ($0.since, $0.refused) = (now + 9, 1) }, changed { $0.claims = nil },
      changed { $0.scopes = .none }, changed { ($0.authenticationContexts, $0.since) = (["c3"], now + -1) },
      SignInRequirement(maxAge: 60, since: now + 9),
    ] {
      #expect(covered.isCovered(by: met), "\(covered)")
    }
    let more = try Claims(json: #"{"access_token":{"acrs":2}}"#)
    let scopes = try ScopeSet(["B", "D"])
    for left in [
      changed { ($0.claims, $0.since) = (more, now + -1) }, changed { $0.scopes = scopes },
      changed { ($0.authenticationContexts, $0.since) = (["c3"], now + 1) },
      changed { ($0.maxAge, $0.since) = (5, now + 1) },
    ] {
      #expect(!left.isCovered(by: met), "\(left)")
    }
  }
}
