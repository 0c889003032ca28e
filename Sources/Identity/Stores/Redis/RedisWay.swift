internal import HTTPClient
internal import Platform
internal import Tokens

/// The means to connect to the places of a server.
struct RedisWay: Sendable {
  let server: RedisServer
  let tokens: RedisTokens?
  let tls: TLSContext?
  let loop: EventLoop
  let resolver: Resolver
  let timing: RedisTiming

  /// The credential for a new connection to the server or a node; nil if it asks for none.
  func credential() async throws(RedisFailure) -> RedisCredential? {
    if let tokens { return try await tokens.credential() }
    return server.password.map { RedisCredential(user: server.user, password: $0) }
  }

  /// Connects to a place: one of the URL's, or one that a sentinel or a node has named.
  func connect(
    _ place: RedisPlace, _ credential: RedisCredential?, database: Int? = nil, until deadline: MonotonicTime
  ) async throws(RedisFailure) -> RedisConnection {
    if let exposed = server.exposed([place]) { throw .exposed(host: exposed.host) }
    var origin = Origin(host: place.host, port: place.port, tls: tls)
    // Sentinels and nodes name addresses, which certificates seldom do: the name is then that of the URL.
    if tls != nil, IPAddress(place.host) != nil, let name = server.places.first?.host, IPAddress(name) == nil {
      origin.serverName = name
    }
    return try await RedisConnection(
      origin, credential, database: database, loop: loop, resolver: resolver, until: deadline)
  }
}
