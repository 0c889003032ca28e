// What tests of stores on Redis servers do with the tokens of people.

import HTTPClient
import Platform
import TestSupport
import Tokens

@testable import Identity

extension CacheStore {
  /// A store over the servers of a URL.
  /// - Parameter isGuarded: true if they have users.
  static func open(
    _ url: String, _ form: RedisGroup.Form, isGuarded: Bool = true, trust: String? = nil, loop: EventLoop
  ) async throws -> CacheStore {
    var server = try RedisServer(url)
    server.keyPrefix = "bp:"
    server.allowsPlaintext = !isGuarded
    if isGuarded { (server.user, server.password) = (RedisGroup.user, Secret(RedisGroup.password)) }
    switch form {
    case .single: break
    case .sentinels:
      server.arrangement = .sentinels(
        isGuarded
          ? .init(
            primary: RedisGroup.primary, user: RedisGroup.sentinelUser,
            password: Secret(RedisGroup.sentinelPassword)) : .init(primary: RedisGroup.primary))
    case .cluster: server.arrangement = .cluster
    }
    let tls = try trust.map { try TLSContext.client(trustPath: $0) }
    return await CacheStore.redis(server, tls: tls, loop: loop, resolver: Resolver())
  }

  /// The time of the first generation; the others follow by a second each.
  static let start = UnixTime(1_700_000_000)

  /// Adds what a sign-in of a person brought.
  func add(_ person: SignedInPerson, _ generation: Int = 0) async throws {
    let time = Self.start + Int64(generation)
    let issued = try person.issued(generation: generation, now: time)
    try await modify { document in _ = document.add(issued, now: time) }
  }

  /// As after a renewal: the refresh token that was used is replaced.
  func rotate(_ person: SignedInPerson, to generation: Int) async throws {
    let time = Self.start + Int64(generation)
    let issued = try person.issued(generation: generation, isSignIn: false, now: time)
    try await modify { document in
      guard document.add(issued, now: time), let held = document.refreshTokens(person.query).first,
        let next = issued.reply.refreshToken, held.secret.revealed() == "\(person.refreshToken(generation - 1))-"
      else { return }
      document.rotate(held, to: next, obtainedAt: time)
    }
  }

  /// The same; what cannot be written is kept.
  func renew(_ person: SignedInPerson, to generation: Int) async throws {
    do { try await rotate(person, to: generation) } catch is CacheStoreError {}
  }

  func remove(_ person: SignedInPerson) async throws {
    try await modify { document in
      document.removeAccount(
        home: person.home, environments: [SignedInPerson.environment], clientID: SignedInPerson.client)
    }
  }

  /// True if it holds this generation of a person's tokens, and is without trouble.
  func has(_ person: SignedInPerson, _ generation: Int) async -> Bool {
    let document = await snapshot()
    return trouble == nil && person.generation(in: document) == generation
  }
}

/// True if each comes to hold this generation of a person's tokens.
func allHave(_ stores: [CacheStore], _ person: SignedInPerson, _ generation: Int) async throws -> Bool {
  for store in stores where try await !eventually({ await store.has(person, generation) }) { return false }
  return true
}
