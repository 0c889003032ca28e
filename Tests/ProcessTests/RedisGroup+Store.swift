// The stores of tests over several Redis servers.

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
}
