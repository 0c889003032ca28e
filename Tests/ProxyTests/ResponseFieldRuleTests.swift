// Fields that repeat the token.

import Bytes
import Identity
import Routing
import Testing
import Tokens

@testable import Proxy

@Suite struct ResponseFieldRuleTests {
  @Test(arguments: [
    ("t0k3n-of-some-length", true), ("Bearer t0k3n-of-some-length", true), ("x=t0k3n-of-some-length; y", true),
    ("t0k3n-of-some-lengt", false), ("T0K3N-OF-SOME-LENGTH", false), ("", false), ("t0k3n-of-some-lengthless", true),
    ("t0t0k3n-of-some-length", true),
  ])
  func `a field that repeats the token is noticed`(value: String, repeats: Bool) {
    let lifetime = TokenLifetime(expiresIn: 60, refreshIn: nil, now: UnixTime(0), jitter: 0)
    let bearer = BearerValue(Secret("t0k3n-of-some-length"), lifetime: lifetime, scopes: .none)
    #expect(bearer.isRepeated(in: Array(value.utf8).span) == repeats)
  }

  @Test(arguments: [
    ("X-API-Key", "0123456789", "key=0123456789", true), ("X-API-Key", "0123456789", "012345678", false),
    ("Authorization", "ApiKey 0123456789", "0123456789", true), ("Authorization", "ApiKey 0123456789", "ApiKey", false),
  ])
  func `a field that repeats a fixed credential is noticed`(
    name: String, value: String, text: String, repeats: Bool
  ) throws {
    let credential = FixedCredential(try #require(RouteFieldName(name)), Secret(value))
    #expect(RequestCredential.fixed(BearerValue(credential)).isRepeated(in: Array(text.utf8).span) == repeats)
    // The caller's own Authorization goes on beside another field.
    #expect(RequestCredential.fixed(BearerValue(credential)).replacesCallers == (name == "Authorization"))
  }

  @Test func `a token that was refused is noticed as well as the one in its place`() {
    func bearer(_ token: String) -> BearerValue {
      BearerValue(
        Secret(token), lifetime: TokenLifetime(expiresIn: 60, refreshIn: nil, now: UnixTime(0), jitter: 0),
        scopes: .none)
    }
    let credential = RequestCredential.bearer(bearer("first-token")).replaced(by: bearer("second-token"))
    #expect(credential.owner == .proxy)
    for (text, repeats) in [("a first-token", true), ("second-token b", true), ("third-token", false)] {
      #expect(credential.isRepeated(in: Array(text.utf8).span) == repeats)
      #expect(RequestCredential.none.isRepeated(in: Array(text.utf8).span) == false)
    }
  }
}
