// Owns where a Redis server is and how it is entered. How a configuration says so is Configuration's.

public import Network
public import Tokens

/// A Redis server, or one that speaks like it (valkey, KeyDB), without a cluster.
public struct RedisServer: Sendable {
  /// Host name or address literal, an IPv6 address without brackets.
  public var host: String
  /// TCP port.
  public var port: UInt16
  /// Trust, and a certificate of ours where the server asks for one; nil is plain TCP.
  public var tls: TLSContext?
  /// The ACL user; nil is the server's default one.
  public var user: String?
  /// The password; nil where the server asks for none.
  public var password: Secret?
  /// The number of the database.
  public var database: Int
  /// What every key begins with.
  public var keyPrefix: String

  /// The prefix where none is configured.
  public static let defaultKeyPrefix = "bearer-proxy:"

  /// A server.
  public init(
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
