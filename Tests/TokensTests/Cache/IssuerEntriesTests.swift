// Several issuers on one host, with one client id and one person: the issuer of each entry, for each writer.

import Bytes
import Testing
import Tokens

@Suite struct IssuerEntriesTests {
  typealias Fixture = CacheFixture
  private static let alpha = "https://idp.example/realms/alpha"
  private static let beta = "https://idp.example/realms/beta"

  /// The writer of a sign-in's entries.
  enum Writer: CaseIterable, Sendable {
    /// This version's proxy and `login`.
    case ours
    /// The version before: tokens marked with the issuer, ID token and account not, all under the host.
    case former
    /// msal: nothing is marked.
    case msal
  }

  private static func idToken(_ issuer: String, at time: UnixTime, name: String = "ann") -> String {
    let claims = #"{"iss":"\#(issuer)","sub":"ann-1","iat":\#(time.seconds),"preferred_username":"\#(name)"}"#
    return "e30.\(Base64URL.encode(Array(claims.utf8))).x"
  }

  private static func issued(
    _ issuer: String, _ name: String, scopes: String, at now: UnixTime, writer: Writer = .ours, isSignIn: Bool = true,
    refreshToken: String?, hasIDToken: Bool = true, username: String = "ann"
  ) throws -> IssuedTokens {
    let refresh = refreshToken.map { #", "refresh_token": "\#($0)""# } ?? ""
    let identity = hasIDToken ? #", "id_token": "\#(idToken(issuer, at: now, name: username))""# : ""
    let body = #"{"access_token": "AT-\#(name)", "expires_in": 3600\#(refresh)\#(identity)}"#
    let reply = try TokenReply(ProviderAnswer(status: 200, body: Array(body.utf8)), sent: .none, now: now)
    var issued = IssuedTokens(
      reply, clientID: Fixture.client, environment: writer == .ours ? issuer : "idp.example", realm: "realms",
      grantType: isSignIn ? "authorization_code" : "refresh_token", requested: try ScopeSet(parameter: scopes),
      isolation: writer == .ours ? issuer : nil, isSignIn: isSignIn)
    if !isSignIn { issued.renewedFor = "ann-1" }
    return issued
  }

  /// Stores a sign-in like a writer.
  private static func signIn(
    _ document: inout CacheDocument, _ issuer: String, _ name: String, scopes: String = "A", after seconds: Int64 = 0,
    writer: Writer = .ours, refreshToken: String?
  ) throws {
    let now = Fixture.now + seconds
    let issued = try issued(issuer, name, scopes: scopes, at: now, writer: writer, refreshToken: refreshToken)
    if writer == .msal {
      // msal replaces whole entries.
      var own = CacheDocument()
      own.add(issued, now: now)
      for place in own.places { document.replace(place, with: own[place]) }
      return
    }
    document.add(issued, now: now)
    guard writer == .former else { return }
    // The key of its access tokens named the issuer, that of its refresh tokens did not.
    let mark = JSONValue.string(issuer)
    var root = try #require(document.value.members)
    for section in ["AccessToken", "RefreshToken"] {
      var entries = root[section]?.members ?? [:]
      for (key, value) in entries {
        guard var members = value.members,
          members["secret"] == .string("\(section == "AccessToken" ? "AT" : "RT")-\(name)")
        else { continue }
        members["ext_cache_key"] = mark
        entries[key] = nil
        entries[section == "AccessToken" ? key.replacing("accesstoken", with: "atext") + "-" + issuer : key] =
          .object(members)
      }
      root[section] = .object(entries)
    }
    document = try Fixture.document(JSONValue.object(root).canonicalText())
  }

  private static func key(_ issuer: String, _ scopes: String = "A", account: String? = nil) throws -> AcquisitionKey {
    AcquisitionKey(
      authority: try Authority(issuer), clientID: Fixture.client, credential: CredentialVersion(0),
      subject: .account(account), scopes: try ScopeSet(parameter: scopes), claims: nil)
  }

  private static func offered(
    _ document: CacheDocument, _ issuer: String, at now: UnixTime = Fixture.now
  ) throws -> [String] {
    document.lookup(for: try key(issuer), realm: nil, now: now).grant.refreshTokens.map { $0.secret.revealed() }
  }

  /// The effect of a silent renewal on the cache.
  private static func redeem(
    _ document: inout CacheDocument, _ issuer: String, to next: String?, after seconds: Int64, scopes: String = "A"
  ) throws {
    let now = Fixture.now + seconds
    let cached = document.lookup(for: try key(issuer), realm: nil, now: now)
    let token = try #require(cached.grant.refreshTokens.first)
    let renewed = try issued(
      issuer, "renewed", scopes: scopes, at: now, isSignIn: false, refreshToken: next, hasIDToken: false)
    let isFiled = document.add(renewed, now: now)
    #expect(isFiled)
    if let next { document.rotate(token, to: Secret(next), obtainedAt: now, of: issuer) }
    document.adopt(token, of: renewed)
  }

  @Test(arguments: Writer.allCases, [Self.alpha, Self.beta])
  func `both issuers of a host serve after both sign-ins, in either order, for each writer of the first`(
    writer: Writer, first: String
  ) throws {
    let second = first == Self.alpha ? Self.beta : Self.alpha
    var document = CacheDocument()
    try Self.signIn(&document, first, "1", writer: writer, refreshToken: "RT-1")
    try Self.signIn(&document, second, "2", after: 60, refreshToken: "RT-2")
    let now = Fixture.now + 61
    for (issuer, name) in [(first, "1"), (second, "2")] {
      let cached = document.lookup(for: try Self.key(issuer, account: "ann"), realm: nil, now: now)
      #expect(cached.grant.refreshTokens.map { $0.secret.revealed() } == ["RT-\(name)"], "\(issuer)")
      // msal's access tokens name no issuer.
      let own = writer == .msal && name == "1" ? nil : "AT-\(name)"
      #expect(cached.accessToken?.secret.revealed() == own)
      #expect(cached.account?.name == "ann" && cached.account?.realms == [] && cached.account?.environment == issuer)
    }
    #expect(try Self.offered(document, "https://idp.example/realms/gamma").isEmpty)
    #expect(try Self.offered(document, "https://idp.example:8443/realms/alpha").isEmpty)
  }

  @Test(arguments: Writer.allCases)
  func `both issuers serve after a sign-in here and then one by msal`(writer: Writer) throws {
    var document = CacheDocument()
    // msal's second sign-in would replace its own first, so it has other scopes.
    try Self.signIn(&document, Self.alpha, "1", scopes: "B", writer: writer, refreshToken: "RT-1")
    if writer == .msal { try Self.redeem(&document, Self.alpha, to: nil, after: 10, scopes: "B") }
    try Self.signIn(&document, Self.beta, "2", after: 60, writer: .msal, refreshToken: "RT-2")
    #expect(try Self.offered(document, Self.alpha) == ["RT-1"])
    #expect(try Self.offered(document, Self.beta) == ["RT-2"])
  }

  @Test func `an issuer's accepted token outlives msal's sign-in at another issuer`() throws {
    var document = CacheDocument()
    try Self.signIn(&document, Self.alpha, "1", writer: .msal, refreshToken: "RT-1")
    try Self.redeem(&document, Self.alpha, to: "RT-1b", after: 10)
    // msal finds the rotated one under its first key, and nothing is offered twice.
    #expect(
      document[.refreshToken].values.filter { $0["environment"] == "idp.example" }.map(\.secret) == [Secret("RT-1b")])
    #expect(try Self.offered(document, Self.alpha) == ["RT-1b"])

    // msal rotates its own: the copy is not the older token that would end the sign-in.
    let place = try #require(document[.refreshToken].first { $0.value["environment"] == "idp.example" }).key
    var root = try #require(document.value.members)
    var entries = try #require(root["RefreshToken"]?.members)
    entries[place] = .object(try #require(entries[place]?.members).merging(["secret": .string("RT-1c")]) { $1 })
    root["RefreshToken"] = .object(entries)
    let rotated = try Fixture.document(JSONValue.object(root).canonicalText())
    #expect(try Self.offered(rotated, Self.alpha) == ["RT-1c"])

    try Self.signIn(&document, Self.beta, "2", after: 60, writer: .msal, refreshToken: "RT-2")
    #expect(try Self.offered(document, Self.alpha) == ["RT-1b"])
    #expect(try Self.offered(document, Self.beta) == ["RT-2"])
    try Self.redeem(&document, Self.alpha, to: "RT-1d", after: 70)
    #expect(try Self.offered(document, Self.alpha) == ["RT-1d"])
    #expect(try Self.offered(document, Self.beta) == ["RT-2"])
    #expect(document.choice(named: nil, authority: try Authority(Self.alpha), clientID: Fixture.client).count == 1)

    // A sign-out by msal takes everything of its own; the copy ends with it.
    for section in [CacheSection.refreshToken, .idToken, .account, .accessToken] {
      for (key, entry) in document[section] where entry["environment"] == "idp.example" {
        document.replace(CachePlace(section, key), with: nil)
      }
    }
    #expect(try Self.offered(document, Self.alpha).isEmpty && Self.offered(document, Self.beta).isEmpty)
    #expect(document.accounts(authority: try Authority(Self.alpha), clientID: Fixture.client).isEmpty)
  }

  /// msal's ID tokens by issuer and time; its refresh tokens by name and time, if that is said; and those that are
  /// offered to each issuer.
  static let plainRows: [(String, [(String, Int64)], [(String, Int64?)], alpha: [String], beta: [String])] = [
    ("written with the ID token", [(alpha, 100)], [("a", 100)], ["a"], []),
    ("renewed since", [(alpha, 100)], [("a", 9000)], ["a"], []),
    ("a clock a little ahead", [(alpha, 103)], [("a", 100)], ["a"], []),
    ("older than the ID token", [(beta, 200)], [("a", 100)], [], []),
    ("nobody says when", [(alpha, 100)], [("a", nil)], [], []), ("no ID token", [], [("a", 100)], [], []),
    ("another's older one beside it", [(beta, 200)], [("a", 100), ("b", 200)], [], ["b"]),
    ("another's beside it, seconds before", [(beta, 200)], [("a", 197), ("b", 200)], [], ["b"]),
    ("another's renewed since", [(beta, 200)], [("a", 300), ("b", 200)], [], ["b"]),
    ("both renewed since", [(beta, 200)], [("a", 300), ("b", 301)], [], []),
    ("an ID token of each", [(alpha, 100), (beta, 200)], [("a", 100), ("b", 200)], ["a"], ["b"]),
    ("an ID token of each, one renewed", [(alpha, 100), (beta, 200)], [("a", 300), ("b", 200)], [], ["b"]),
    ("an ID token of each, in one second", [(alpha, 100), (beta, 100)], [("a", 100)], [], []),
  ]

  @Test(arguments: plainRows)
  func `a refresh token that says nothing of its issuer is offered to the one it came from, or to none`(
    name: String, proofs: [(String, Int64)], tokens: [(String, Int64?)], alpha: [String], beta: [String]
  ) throws {
    var sections: [String: [String: JSONValue]] = [
      "Account": [
        "a": .object([
          "home_account_id": .string("ann-1"), "environment": .string("idp.example"), "username": .string("ann"),
        ])
      ]
    ]
    func entry(_ secret: String, _ more: [String: JSONValue]) -> JSONValue {
      let members: [String: JSONValue] = [
        "secret": .string(secret), "home_account_id": .string("ann-1"), "environment": .string("idp.example"),
        "client_id": .string(Fixture.client),
      ]
      return .object(members.merging(more) { $1 })
    }
    for (issuer, time) in proofs {
      sections["IdToken", default: [:]][issuer] = entry(Self.idToken(issuer, at: UnixTime(time)), [:])
    }
    for (name, time) in tokens {
      sections["RefreshToken", default: [:]][name] = entry(
        name, time.map { ["last_modification_time": .string("\($0)")] } ?? [:])
    }
    let document = try Fixture.document(JSONValue.object(sections.mapValues { JSONValue.object($0) }).canonicalText())
    #expect(try Self.offered(document, Self.alpha) == alpha)
    #expect(try Self.offered(document, Self.beta) == beta)
  }

  @Test func `a renewal that ends after a sign-in elsewhere leaves that one's token in its place`() throws {
    var document = CacheDocument()
    try Self.signIn(&document, Self.alpha, "1", writer: .msal, refreshToken: "RT-1")
    let redeemed = try #require(
      document.lookup(for: try Self.key(Self.alpha), realm: nil, now: Fixture.now).grant.refreshTokens.first)
    try Self.signIn(&document, Self.beta, "2", after: 1, writer: .msal, refreshToken: "RT-2")
    let renewed = try Self.issued(
      Self.alpha, "renewed", scopes: "A", at: Fixture.now + 9, isSignIn: false, refreshToken: "RT-1b")
    document.add(renewed, now: Fixture.now + 9)
    document.rotate(redeemed, to: Secret("RT-1b"), obtainedAt: Fixture.now + 9, of: Self.alpha)
    document.adopt(redeemed, of: renewed)
    #expect(document[.refreshToken].values.contains { $0.secret == Secret("RT-2") && $0["ext_cache_key"] == nil })
    #expect(try Self.offered(document, Self.beta) == ["RT-2"])
  }

  @Test(arguments: Writer.allCases)
  func `signing out of one issuer leaves the other, and a refresh that ends after it files nothing`(
    writer: Writer
  ) throws {
    var document = CacheDocument()
    try Self.signIn(&document, Self.alpha, "1", writer: writer, refreshToken: "RT-1")
    try Self.signIn(&document, Self.beta, "2", after: 60, refreshToken: "RT-2")
    let (alpha, beta) = (try Authority(Self.alpha), try Authority(Self.beta))
    var other = document
    other.removeAccount(home: "ann-1", at: beta, clientID: Fixture.client)
    #expect(try Self.offered(other, Self.alpha) == ["RT-1"] && Self.offered(other, Self.beta).isEmpty)

    document.removeAccount(home: "ann-1", at: alpha, clientID: Fixture.client)
    #expect(try Self.offered(document, Self.alpha).isEmpty && Self.offered(document, Self.beta) == ["RT-2"])
    #expect(!String(decoding: document.text(), as: UTF8.self).contains("RT-1"))
    #expect(document.accounts(authority: alpha, clientID: Fixture.client).isEmpty)
    #expect(document.signedInAccounts(at: beta, clientID: Fixture.client).map(\.canRefresh) == [true])
    let renewed = try Self.issued(
      Self.alpha, "late", scopes: "A", at: Fixture.now + 61, isSignIn: false, refreshToken: "RT-late")
    let isFiled = document.add(renewed, now: Fixture.now + 61)
    #expect(!isFiled)

    document.removeAccount(home: "ann-1", at: beta, clientID: Fixture.client)
    #expect(document[.account].isEmpty && document[.idToken].isEmpty && document[.refreshToken].isEmpty)
  }

  // A renewal of the former version's sign-in leaves the token at the place at which that version, still running
  // elsewhere, finds it.
  @Test func `an entry of the former version is renewed in place, and survives a sign-in that replaces it`() throws {
    var document = CacheDocument()
    try Self.signIn(&document, Self.alpha, "1", writer: .former, refreshToken: "RT-1")
    try Self.redeem(&document, Self.alpha, to: "RT-1b", after: 10)
    let place = document[.refreshToken].values.first { $0["environment"] == "idp.example" }
    #expect(place?.secret == Secret("RT-1b") && place?["ext_cache_key"] == Self.alpha)
    try Self.signIn(&document, Self.beta, "2", after: 60, writer: .msal, refreshToken: "RT-2")
    #expect(try Self.offered(document, Self.alpha) == ["RT-1b"] && Self.offered(document, Self.beta) == ["RT-2"])
  }

  @Test func `a user name at one issuer is none at the other`() throws {
    var document = CacheDocument()
    for (issuer, name) in [(Self.alpha, "ann@alpha.example"), (Self.beta, "ann@beta.example")] {
      document.add(
        try Self.issued(issuer, "1", scopes: "A", at: Fixture.now, refreshToken: "RT", username: name),
        now: Fixture.now)
    }
    func reason(_ issuer: String, _ name: String) throws -> InteractionReason? {
      document.lookup(for: try Self.key(issuer, account: name), realm: nil, now: Fixture.now).grant.reason
    }
    #expect(try reason(Self.alpha, "ann@alpha.example") == nil && reason(Self.beta, "ANN@beta.example") == nil)
    #expect(try reason(Self.alpha, "ann@beta.example") == .noAccount)
  }

  @Test(arguments: [
    (#","email":"ann@id.example","name":"Ann""#, "ann@id.example"), (#","name":"Ann Bell""#, "Ann Bell"),
    (#","nickname":"annie""#, "annie"), (#","given_name":"Ann","family_name":"Bell""#, "Ann Bell"),
    (#","email":"","name":3"#, "ann-1"), ("", "ann-1"),
  ])
  func `a person without a user name is called by the best claim there is`(claims: String, name: String) throws {
    for (issuer, environment) in [
      (Self.alpha, Self.alpha), ("https://login.microsoftonline.com/common", "sts.windows.net"),
    ] {
      let text = #"{"iss":"\#(issuer)","sub":"ann-1","iat":1700000000\#(claims)}"#
      let body =
        #"{"access_token": "AT", "expires_in": 3600, "id_token": "e30.\#(Base64URL.encode(Array(text.utf8))).x"}"#
      var document = CacheDocument()
      let authority = try Authority(issuer)
      document.add(
        IssuedTokens(
          try TokenReply(ProviderAnswer(status: 200, body: Array(body.utf8)), sent: .none, now: Fixture.now),
          clientID: Fixture.client, environment: environment, realm: "realms", grantType: "authorization_code",
          requested: try ScopeSet(["A"]), isolation: authority.isolation), now: Fixture.now)
      let account = try #require(document.accounts(authority: authority, clientID: Fixture.client).first)
      #expect(account.name == name && account.username.isEmpty)
      #expect(account.realms == (authority.isolation == nil ? ["realms"] : []))
    }
  }
}
