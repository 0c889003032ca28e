package import Bytes
package import Platform
internal import Tokens

/// A Redis server, or one that speaks like it (valkey, KeyDB), without a cluster.
package struct RedisServer: Sendable {
  /// Host name or address literal, an IPv6 address without brackets.
  package var host: String
  package var port: UInt16
  /// Trust, and our certificate where the server asks for one; nil is plain TCP.
  package var tls: TLSContext?
  /// The ACL user; nil is the server's default one.
  package var user: String?
  /// The password; nil where the server asks for none.
  package var password: Secret?
  /// The number of the database.
  package var database: Int
  /// What every key begins with.
  package var keyPrefix: String

  /// The prefix where none is configured.
  package static let defaultKeyPrefix = "bearer-proxy:"

  package init(
    host: String, port: UInt16 = 6379, tls: TLSContext? = nil, user: String? = nil, password: Secret? = nil,
    database: Int = 0, keyPrefix: String = defaultKeyPrefix
  ) {
    self.host = host
    self.port = port
    self.tls = tls
    self.user = user
    self.password = password
    self.database = database
    self.keyPrefix = keyPrefix
  }
}
