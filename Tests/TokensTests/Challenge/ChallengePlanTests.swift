import HTTP
import Testing
import Tokens

@Suite struct ChallengePlanTests {
  private static let claims = #"{"access_token":{"nbf":null}}"#

  private static func plan(
    _ status: Int, _ field: String, age: Int64 = 5, granted: String = "A", allowed: String = "",
    isReplayable: Bool = true, isReplay: Bool = false
  ) throws -> ChallengePlan {
    var list = AuthenticationChallengeList()
    list.read(Array(field.utf8).span)
    return ChallengePlan(
      RefusedRequest(
        status: status, challenge: BearerChallengeReading(list), granted: try ScopeSet(parameter: granted),
        tokenAge: age, allowedScopes: try ScopeSet(parameter: allowed), isReplayable: isReplayable, isReplay: isReplay))
  }

  private static let claimsField = #"Bearer error="insufficient_claims", claims="{\"access_token\":{\"nbf\":null}}""#
  private static let stepUp = #"Bearer error="insufficient_user_authentication", acr_values="c1""#

  @Test(
    arguments: [
      (401, claimsField, 5, .answer(.claims(try Claims(json: claims)))),
      (
        401, #"Bearer error="invalid_token", claims="{\"access_token\":{\"nbf\":null}}""#, 5,
        .answer(.claims(try Claims(json: claims)))
      ),
      (401, "Bearer error=invalid_token", 0, .answer(.invalidToken)),
      (401, "Bearer", 61, .answer(.invalidToken)), (401, "Bearer", 60, .passOn(.tokenIsNew)),
      (401, "", 61, .answer(.invalidToken)), (401, "", 0, .passOn(.tokenIsNew)),
      (401, "Basic realm=x", 61, .answer(.invalidToken)),
      (401, stepUp, 100, .passOn(.personNeeded)), (403, stepUp, 100, .passOn(.nothingAsked)),
      (401, "Bearer error=invalid_request", 100, .passOn(.nothingAsked)),
      (401, "Bearer error=invalid_token, error=x", 100, .passOn(.unusable)),
      (401, "Bearer error=insufficient_claims, claims=x", 100, .passOn(.unusable)),
      (403, "Bearer scope=\"\u{1}", 100, .passOn(.unusable)),
      (403, claimsField, 100, .passOn(.nothingAsked)), (403, "Bearer error=invalid_token", 100, .passOn(.nothingAsked)),
      (401, "Bearer error=insufficient_claims", 100, .passOn(.nothingAsked)), (403, "", 100, .passOn(.nothingAsked)),
      (500, claimsField, 100, .passOn(.nothingAsked)),
      (200, claimsField, 100, .passOn(.nothingAsked)), (407, "", 100, .passOn(.nothingAsked)),
    ] as [(Int, String, Int64, ChallengePlan)])
  func `a refusal has one plan`(status: Int, field: String, age: Int64, plan: ChallengePlan) throws {
    #expect(try Self.plan(status, field, age: age) == plan)
  }

  @Test(
    arguments: [
      ("B", "B", .answer(.scopes(try ScopeSet(["B"])))), ("A B", "B", .answer(.scopes(try ScopeSet(["A", "B"])))),
      ("b", "B", .answer(.scopes(try ScopeSet(["b"])))), ("B C", "B", .passOn(.scopesNotAllowed)),
      ("B", "", .passOn(.scopesNotAllowed)), ("", "B", .passOn(.scopesNotAllowed)), ("A", "B", .passOn(.scopesHeld)),
    ] as [(String, String, ChallengePlan)])
  func `scopes are added if the route allows all of them and one is missing`(
    wanted: String, allowed: String, plan: ChallengePlan
  ) throws {
    for status in [401, 403] {
      let field = #"Bearer error="insufficient_scope", scope="\#(wanted)""#
      #expect(try Self.plan(status, field, allowed: allowed) == plan)
    }
  }

  @Test(arguments: [claimsField, "Bearer error=invalid_token", "", "Bearer error=insufficient_scope, scope=B"])
  func `nothing is sent a third time, and for what is gone only the next one gets another token`(field: String) throws {
    guard case .answer(let rejection) = try Self.plan(401, field, age: 100, allowed: "B") else {
      Issue.record("the row has no effect")
      return
    }
    #expect(try Self.plan(401, field, age: 100, allowed: "B", isReplay: true) == .passOn(.isReplay))
    #expect(try Self.plan(401, field, age: 100, allowed: "B", isReplayable: false) == .answerBehind(rejection))
    #expect(
      try Self.plan(401, field, age: 100, allowed: "B", isReplayable: false, isReplay: true) == .passOn(.isReplay))
  }

  @Test func `claims requests merge, and the later one counts`() throws {
    let one = try Claims(json: #"{"access_token":{"acrs":{"value":"c1"},"nbf":1},"id_token":{"x":null}}"#)
    let other = try Claims(json: #"{"access_token":{"nbf":2},"userinfo":{}}"#)
    #expect(
      one.merged(with: other).text
        == #"{"access_token":{"acrs":{"value":"c1"},"nbf":2},"id_token":{"x":null},"userinfo":{}}"#)
    let big = try Claims(json: #"{"a":"\#(String(repeating: "x", count: Claims.limit - 10))"}"#)
    #expect(big.merged(with: other) == other)
  }
}
