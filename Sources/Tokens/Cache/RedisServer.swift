package import Bytes
internal import HTTP

/// A text that is no Redis server's URL.
package enum RedisServerError: Error, Sendable, Hashable {
  /// It does not begin with `redis://` or `rediss://`.
  case scheme
  /// The user information is not `user:password`, percent-encoded.
  case userInformation
  /// The host, or the port.
  case host
  /// The path is not the number of a database.
  case database
}

/// A Redis server, or a compatible one (valkey, KeyDB), without a cluster, and its credentials.
package struct RedisServer: Sendable, Hashable, CustomStringConvertible {
  /// Host name or address literal in lower case, an IPv6 address without its brackets.
  package let host: String
  package let port: UInt16
  /// True for TLS (`rediss`).
  package let isSecure: Bool
  /// True if only this machine can be at the other end, by the URL.
  package let isLoopback: Bool
  package let database: Int
  /// The ACL user; nil is the server's default one.
  package var user: String?
  /// The password; nil if the server asks for none.
  package var password: Secret?
  /// The beginning of every key.
  package var keyPrefix = "bearer-proxy:"

  /// Reads a URL. The text of a configuration may not contain a password, since people show it to one another; a
  /// variable may.
  package init(_ text: String) throws(RedisServerError) {
    let lowered = text.prefix(9).lowercased()
    isSecure = lowered.hasPrefix("rediss://")
    guard isSecure || lowered.hasPrefix("redis://") else { throw .scheme }
    let rest = text.dropFirst(isSecure ? 9 : 8)
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    var place = rest[..<slash]
    if let at = place.lastIndex(of: "@") {
      let parts = place[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let name = PercentEncoding.decoded(parts[0].utf8),
        let word = PercentEncoding.decoded(parts[1].utf8), !word.isEmpty
      else {
        throw .userInformation
      }
      user = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
      password = Secret(word)
      place = place[place.index(after: at)...]
    }
    let number = rest[slash...].dropFirst()
    guard number.isEmpty || (Int(number).map { (0...9999).contains($0) } ?? false), !number.contains("+") else {
      throw .database
    }
    // The default port differs from HTTP's.
    let hasPort = (place.lastIndex(of: ":") ?? place.startIndex) > (place.lastIndex(of: "]") ?? place.startIndex)
    let url: HTTPURL
    do throws(HTTPURLError) {
      url = try HTTPURL("http://" + place)
    } catch {
      throw .host
    }
    guard url.target == "/" else { throw .database }
    host = url.host
    isLoopback = url.isLoopback
    port = hasPort ? url.port : 6379
    database = Int(number) ?? 0
  }

  /// Without user and password.
  package var description: String {
    "\(isSecure ? "rediss" : "redis")://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(database)"
  }

  /// Hashes the address; secrets are compared, never hashed.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(host)
    hasher.combine(port)
    hasher.combine(database)
    hasher.combine(user)
  }
}
