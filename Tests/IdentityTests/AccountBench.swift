// A broker with people in its cache, an Entra-shaped provider that answers by a script, and a clock that tests move.

import Bytes
import Testing
import Tokens

@testable import Identity

/// One application, one tenant, and who is signed in.
struct AccountBench: BrokerBench {
  static let tenant = "11111111-aaaa-4aaa-8aaa-111111111111"
  static let authority = "https://login.microsoftonline.com/\(tenant)"
  static let alice = Person(uid: "uid-alice", username: "Alice@contoso.example")
  static let bob = Person(uid: "uid-bob", username: "bob@contoso.example")
  static let metadata =
    #"{"issuer": "\#(authority)/v2.0", "token_endpoint": "\#(authority)/oauth2/v2.0/token"}"#

  struct Person: Sendable {
    var uid: String
    var username: String
    var home: String { "\(uid).\(AccountBench.tenant)" }
    /// Members of a reply that say so.
    var members: String {
      let info = Base64URL.encode(Array(#"{"uid":"\#(uid)","utid":"\#(AccountBench.tenant)"}"#.utf8))
      let claims = Base64URL.encode(
        Array(#"{"iss":"\#(authority)/v2.0","sub":"s","oid":"\#(uid)","preferred_username":"\#(username)"}"#.utf8))
      return #""client_info": "\#(info)", "id_token": "e30.\#(claims).x""#
    }
  }

  let clock = ManualClock()
  let provider = ScriptedProvider(metadata: metadata, endpoint: "\(authority)/oauth2/v2.0/token")
  let store: CacheStore
  let broker: TokenBroker
  let events: AsyncStream<TokenEvent>
  let published = Published()
  let naps = Naps()

  /// A bench with this cache. Callers wait until `patience` returns.
  init(
    _ document: CacheDocument = CacheDocument(),
    patience: @escaping @Sendable () async -> Void = TokenBroker.endlessPatience
  ) {
    store = CacheStore.memory(document)
    let (events, continuation) = AsyncStream<TokenEvent>.makeStream()
    self.events = events
    broker = TokenBroker(
      TokenBroker.Surroundings(
        now: { [clock] in clock.now }, jitter: { 0 }, sleep: { [naps] in await naps.rest($0) },
        patience: patience, observe: { continuation.yield($0) }, publish: { [published] in published.take($0, $1) }),
      store: store)
  }

  /// Alice, signed in at the clock's start with a token for `A` that lives an hour, and a refresh token.
  static func signedIn() throws -> AccountBench {
    AccountBench(try .ofAlice())
  }

  /// Alice, whose token has ended, at a provider with these answers.
  static func expired(_ answers: ScriptedProvider.Answer...) async throws -> AccountBench {
    let bench = try signedIn()
    bench.clock.advance(3600)
    await bench.provider.script(tokens: answers)
    return bench
  }

  func application(secret: String? = nil, version: UInt64 = 0, clientID: String = "client") throws -> Application {
    Application(
      name: "demo", authority: try Authority(Self.authority), clientID: clientID,
      credential: secret.map { .secret(Secret($0)) }, credentialVersion: CredentialVersion(version),
      fetch: provider.fetch)
  }

  func subscription(
    _ scopes: String = "A", account: String? = nil, challenge: String? = nil, of application: Application? = nil
  ) throws -> TokenSubscription {
    TokenSubscription(
      application: try application ?? self.application(), subject: .account(account),
      scopes: try ScopeSet(parameter: scopes),
      challenge: try challenge.map { try Claims(json: $0) })
  }

  /// The reason why a caller gets no token.
  func need(_ subscription: TokenSubscription) async -> InteractionRequired? {
    await failure(subscription)?.interactionRequired
  }

  /// The refresh tokens that the provider was sent, in order.
  func redeemed() async -> [String] {
    await provider.forms.compactMap { form in
      form.split(separator: "&").first { $0.hasPrefix("refresh_token=") }.map { String($0.dropFirst(14)) }
    }
  }

  /// A reply with tokens for a person.
  static func tokens(
    _ token: String, scope: String = "A", refreshToken: String? = nil, person: Person? = alice, expiresIn: Int64 = 3600,
    extra: String = ""
  ) -> ScriptedProvider.Answer {
    var text =
      #"{"access_token": "\#(token)", "token_type": "Bearer", "expires_in": \#(expiresIn), "scope": "\#(scope)""#
    if let refreshToken { text += #", "refresh_token": "\#(refreshToken)""# }
    if let person { text += ", " + person.members }
    return .json(200, text + extra + "}")
  }

  static func refusal(
    _ error: String = "invalid_grant", suberror: String? = nil, claims: String? = nil, status: Int = 400
  ) -> ScriptedProvider.Answer {
    var members: [String: JSONValue] = ["error": .string(error)]
    members["suberror"] = suberror.map(JSONValue.string)
    members["claims"] = claims.map(JSONValue.string)
    return .json(status, JSONValue.object(members).canonicalText())
  }
}

extension AccountBench {
  /// Signs a person in, now, as another process does.
  func signIn(_ person: Person, scopes: String, token: String, refreshToken: String) async throws {
    let now = clock.now
    let issued = try IssuedTokens(person, scopes: scopes, token: token, refreshToken: refreshToken, now: now)
    _ = try await store.modify { $0.add(issued, now: now) }
  }

  /// Signs a person out, as another process does.
  func signOut(_ person: Person) async throws {
    try await store.modify {
      $0.removeAccount(home: person.home, environments: ["login.microsoftonline.com"], clientID: "client")
    }
  }

  static func query(_ person: Person) -> CacheQuery {
    CacheQuery(
      environments: ["login.microsoftonline.com"], realm: tenant, clientID: "client", homeAccountID: person.home)
  }
}

extension IssuedTokens {
  /// The result of a sign-in.
  init(
    _ person: AccountBench.Person, scopes: String, token: String, refreshToken: String?, now: UnixTime,
    clientID: String = "client", environment: String = "login.microsoftonline.com", extra: String = ""
  ) throws {
    let refresh = refreshToken.map { #", "refresh_token": "\#($0)""# } ?? ""
    let body =
      #"{"access_token": "\#(token)", "expires_in": 3600, "scope": "\#(scopes)", \#(person.members)\#(refresh)"#
    let reply = try TokenReply(
      ProviderAnswer(status: 200, body: Array((body + extra + "}").utf8)), sent: .none, now: now)
    self.init(
      reply, clientID: clientID, environment: environment, realm: AccountBench.tenant, grantType: "authorization_code",
      requested: try ScopeSet(parameter: scopes))
  }
}

extension CacheDocument {
  /// Files what a sign-in at the clock's start, or later, brings.
  mutating func signIn(
    _ person: AccountBench.Person, scopes: String, token: String, refreshToken: String?, after seconds: Int64 = 0,
    clientID: String = "client", environment: String = "login.microsoftonline.com", extra: String = ""
  ) throws {
    let now = ManualClock.start + seconds
    add(
      try IssuedTokens(
        person, scopes: scopes, token: token, refreshToken: refreshToken, now: now, clientID: clientID,
        environment: environment, extra: extra), now: now)
  }

  /// Alice, signed in at the clock's start.
  static func ofAlice(
    environment: String = "login.microsoftonline.com", clientID: String = "client", extra: String = ""
  ) throws -> CacheDocument {
    var document = CacheDocument()
    try document.signIn(
      AccountBench.alice, scopes: "A", token: "AT-alice", refreshToken: "RT-alice", clientID: clientID,
      environment: environment, extra: extra)
    return document
  }

  /// Every refresh token of the cache, in order of their text.
  var refreshTokenTexts: [String] { self[.refreshToken].values.compactMap { $0.secret?.revealed() }.sorted() }

  /// Every access token of the cache, in order of their text.
  var accessTokenTexts: [String] { self[.accessToken].values.compactMap { $0.secret?.revealed() }.sorted() }
}
