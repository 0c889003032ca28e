// The settings of the token cache.

import Bytes
import Testing
import Tokens

@testable import Configuration

extension `Decoded settings` {
  static let caches: [(yaml: String, path: String?)] = [
    ("", nil),
    ("cache: {memory: true}", nil),
    ("cache: {file: tokens.json}", "dir/tokens.json"),
    ("cache: {file: /srv/tokens.json}", "/srv/tokens.json"),
    ("cache: {file: ~/.azure/tokens.json}", "/home/alice/.azure/tokens.json"),
    ("cache: {file: \"${CLIENT}.json\"}", "dir/client-7.json"),
  ]

  static let servers: [(yaml: String, address: String, user: String?, password: String?)] = [
    ("{redis: redis://localhost}", "redis://localhost:6379/0", nil, nil),
    ("{redis: REDISS://Cache.Example/7}", "rediss://cache.example:6379/7", nil, nil),
    ("{redis: \"rediss://[2001:db8::1]:6380\"}", "rediss://[2001:db8::1]:6380/0", nil, nil),
    ("{redis: redis://127.0.0.1:80, password: p}", "redis://127.0.0.1:80/0", nil, "p"),
    ("{redis: redis://127.0.0.1, user: u, password: p}", "redis://127.0.0.1:6379/0", "u", "p"),
    ("{redis: \"rediss://u%40x:${SECRET}@c.example:1/2\"}", "rediss://c.example:1/2", "u@x", "s/3@"),
    ("{redis: \"${URL}\"}", "redis://127.0.0.9:6379/0", nil, "whole"),
    ("{redis: 'rediss://a.example,b.example:7', sentinel: main}", "rediss://a.example:26379,b.example:7/0", nil, nil),
    ("{redis: 'rediss://a.example,[::1]:7', cluster: true}", "rediss://a.example:6379,[::1]:7/0", nil, nil),
    ("{redis: redis://c.example, allow_plaintext: true}", "redis://c.example:6379/0", nil, nil),
  ]

  @Test(arguments: servers)
  func `tokens are kept on the Redis server that the file names`(
    yaml: String, address: String, user: String?, password: String?
  ) throws {
    let environment = ["SECRET": "s%2F3%40", "URL": "redis://:whole@127.0.0.9"]
    let redis = try #require(try decoded(Self.smallest + "\ncache: " + yaml, environment: environment).redis)
    #expect(redis.server.value.description == address)
    #expect((redis.server.value.user, redis.server.value.password?.revealed()) == (user, password))
  }

  @Test func `an application's token leaves in clear to no node that is found at run time`() throws {
    let text = "cache: {redis: redis://127.0.0.1, cluster: true, allow_plaintext: true, entra: job}\n" + Self.job
    let redis = try #require(try decoded(text).redis)
    let place = RedisPlace(host: "10.0.0.5", port: 6379)
    #expect(redis.server.value.exposed([place]) == place)
  }

  @Test func `the keys of an encrypted cache are read from their file`() throws {
    let settings = try decoded(Self.smallest + "\ncache: {file: tokens, key_file: keys}")
    #expect(settings.cacheKeys == [1, 2].map { Secret([UInt8](repeating: $0, count: 32)) })
    #expect(try decoded(Self.smallest + "\ncache: {file: tokens}").cacheKeys.isEmpty)
  }

  private static let job = """
    listeners: [{address: 127.0.0.1:8080}]
    applications: {job: {authority: 'https://id.example', client_id: j, client_secret: s3cret-of-job}}
    routes: [{name: r, path: /, upstream: "https://api.example/", token: none}]
    """

  @Test(arguments: caches)
  func `tokens are kept in memory, or in the file that is named`(yaml: String, path: String?) throws {
    switch try decoded(Self.smallest + "\n" + yaml).cache {
    case .memory: #expect(path == nil)
    case .file(let file): #expect((file.value, file.key) == (path, "cache.file"))
    case .redis: Issue.record("no row names a server")
    }
  }
}

extension Settings {
  /// The server that keeps tokens, if one does.
  var redis: RedisSettings? { if case .redis(let server) = cache { server } else { nil } }
}
