// Whom a login expects, and what the provider is told of it.

import Testing
@testable import Tokens

@testable import bearer_proxy

@Suite struct LoginExpectationTests {
  private static func account(_ home: String, _ username: String) -> CachedAccount {
    CachedAccount(
      homeAccountID: home, environment: "h", username: username, usernames: username.isEmpty ? [] : [username],
      localAccountIDs: [], realms: [])
  }

  private static let ann = account("a.t", "ann@x")
  private static let bob = account("b.t", "bob@x")
  private static let nameless = account("n.t", "")

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var named: String?
    var hint: String?
    var prompt: Prompt?
    var people: [CachedAccount] = []
    var account: String?
    var told: String?
    var shown: Prompt?
  }

  static let rows: [Row] = [
    Row(testDescription: "nobody"),
    Row(testDescription: "named", named: "ann@x", account: "ann@x", told: "ann@x"),
    Row(testDescription: "named by id, unknown", named: "a.t", account: "a.t"),
    Row(testDescription: "named by id, known", named: "a.t", people: [ann, bob], account: "a.t", told: "ann@x"),
    Row(
      testDescription: "named, with a hint", named: "a.t", hint: "annie", people: [bob], account: "a.t", told: "annie"),
    Row(testDescription: "the only one", people: [ann], account: "a.t", told: "ann@x"),
    Row(testDescription: "the only one, without a name", people: [nameless], account: "n.t"),
    Row(
      testDescription: "the only one, for whom something is shown", prompt: .consent, people: [ann], account: "a.t",
      told: "ann@x", shown: .consent),
    Row(testDescription: "another by name", hint: "bob@x", people: [ann], told: "bob@x"),
    Row(testDescription: "another by choice", prompt: .selectAccount, people: [ann], shown: .selectAccount),
    Row(testDescription: "another, who is new", prompt: .create, people: [ann], shown: .create),
    Row(testDescription: "of two", people: [ann, bob], shown: .selectAccount),
    Row(testDescription: "of two, silently", prompt: Prompt.none, people: [ann, bob], shown: Prompt.none),
  ]

  @Test(arguments: rows) func `the expected account, and the words for it`(row: Row) {
    let expectation = LoginExpectation(named: row.named, hint: row.hint, prompt: row.prompt, people: row.people)
    #expect(expectation.account == row.account)
    #expect(expectation.hint == row.told)
    #expect(expectation.prompt == row.shown)
    #expect(expectation.isOpen == (row.account == nil))
  }
}
