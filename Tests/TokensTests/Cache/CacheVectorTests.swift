// Every recorded cache vector: the same operations leave the same document, except for known mistakes of msal-python.

import Bytes
import FoundationEssentials
import Testing

@testable import Tokens

@Suite struct CacheVectorTests {
  /// Intended differences, by vector and step, with the reason.
  static let deviations: [String: [Int: String]] = [
    // Recorded with a later clock: msal-python's search purged every access token on the way.
    "10-remove-account": [5: "signing out removes nothing of others"],
    "21-search-purges-expired": [3: "searching removes nothing of others"],
    "28-add-replaces-whole-entry": [
      1: "unknown members and families are merged, not lost", 2: "a person's token without a person is not filed",
    ],
  ]

  @Test(arguments: try CacheVector.all())
  func `the document is what msal-python leaves`(vector: CacheVector) throws {
    var document = try CacheDocument(text: Array(vector.initial.canonicalText().utf8))
    for (index, step) in vector.steps.enumerated() {
      switch step.operation {
      case .add(let issued): document.add(issued, now: step.now)
      case .foreign: document = try CacheDocument(text: Array(step.after.canonicalText().utf8))
      case .search(let section, let scopes, let query, let found):
        try search(document, section, scopes, query, found: found, now: step.now, vector)
      case .rotate(let old, let new):
        let entries = document[.refreshToken].values
        let home = try #require(entries.first?["home_account_id"])
        let environments = ["login.microsoftonline.com"]
        let query = CacheQuery(
          environments: environments, realm: "", clientID: try #require(entries.first?["client_id"]),
          homeAccountID: home)
        let held = try #require(document.refreshTokens(query).first)
        if let old { #expect(held.secret == Secret(old)) }
        document.rotate(held, to: Secret(new), obtainedAt: step.now)
      case .forget(let home, let environment, let clientID):
        document.removeAccount(home: home, environments: [environment], clientID: clientID)
      }
      let text = try #require(JSONValue(json: document.text()))
      if let reason = Self.deviations[vector.name]?[index] {
        #expect(text != step.after, "step \(index) no longer differs, though \(reason)")
      } else {
        #expect(text.differences(from: step.after) == [], "step \(index)")
      }
      #expect(try CacheDocument(text: document.text()).text() == document.text())
    }
  }

  private func search(
    _ document: CacheDocument, _ section: CacheSection, _ scopes: String, _ query: CacheQuery, found: [String],
    now: UnixTime, _ vector: CacheVector
  ) throws {
    switch section {
    case .accessToken:
      // A certificate that msal-python returns as a bearer token is not found here.
      let expected = vector.name.hasPrefix("16-") ? [] : found
      let token = document.accessToken(query, scopes: try ScopeSet(parameter: scopes), now: now)
      #expect(token.map { [$0.secret] } ?? [] == expected.map { Secret($0) })
    case .refreshToken:
      let home = try #require(query.homeAccountID)
      let owners = Set(document[.refreshToken].values.compactMap { $0["client_id"] })
      let tokens = owners.flatMap { client in
        document.refreshTokens(
          CacheQuery(environments: query.environments, realm: "", clientID: client, homeAccountID: home))
      }
      #expect(Set(tokens.map { $0.secret.revealed() }) == Set(found))
    case .account:
      // Recorded as home|realm, one for each tenant.
      let hosts = Set(query.environments)
      let accounts = document.homeAccountIDs.compactMap { document.account(home: $0, hosts: hosts) }
      #expect(
        Set(accounts.flatMap { account in account.realms.map { "\(account.homeAccountID)|\($0)" } }) == Set(found))
    case .idToken, .appMetadata:
      Issue.record("no vector searches \(section)")
    }
  }

  @Test func `every vector is run`() throws {
    let vectors = try CacheVector.all()
    #expect(vectors.count == 23)
    #expect(vectors.allSatisfy { !$0.steps.isEmpty })
    #expect(Set(Self.deviations.keys).isSubset(of: Set(vectors.map(\.name))))
  }
}

extension JSONValue {
  /// The members in which two values differ, with their paths. An empty object equals an absent one.
  fileprivate func differences(from other: JSONValue, at path: String = "") -> [String] {
    guard let mine = members, let theirs = other.members else {
      return self == other ? [] : ["\(path): \(canonicalText()) instead of \(other.canonicalText())"]
    }
    return Set(mine.keys).union(theirs.keys).sorted().flatMap { name in
      let left = mine[name] ?? .object([:])
      let right = theirs[name] ?? .object([:])
      return left.differences(from: right, at: "\(path)/\(name)")
    }
  }
}
