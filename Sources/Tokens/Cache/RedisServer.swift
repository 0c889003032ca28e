package import Bytes
internal import HTTP

/// A host and port at which a Redis server, a node of a cluster or a sentinel listens.
package struct RedisPlace: Sendable, Hashable, CustomStringConvertible {
  /// Host name or address literal in lower case, an IPv6 address without its brackets.
  package let host: String
  package let port: UInt16

  package init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }

  /// True if only this machine can be at the other end.
  package var isLoopback: Bool {
    host == "localhost" || IPAddress(host).map { $0 == $0.unmapped && $0.isLoopback } ?? false
  }

  package var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

/// A Redis server, the primary that sentinels name, or a cluster; also of compatible servers (valkey, KeyDB).
package struct RedisServer: Sendable, Hashable, CustomStringConvertible {
  /// The way to the server.
  package enum Arrangement: Sendable, Hashable {
    /// It listens at the only place.
    case single
    /// The places are sentinels, which know it.
    case sentinels(Sentinels)
    /// The places are nodes, which know each other.
    case cluster
  }

  /// The name that sentinels know, and their own credentials.
  package struct Sentinels: Sendable, Hashable {
    /// Their name for the primary.
    package var primary: String
    package var user: String?
    package var password: Secret?

    package init(primary: String, user: String? = nil, password: Secret? = nil) {
      (self.primary, self.user, self.password) = (primary, user, password)
    }

    /// Hashes the name; secrets are compared, never hashed.
    package func hash(into hasher: inout Hasher) { hasher.combine(primary) }
  }

  /// The places of the URL; at least one.
  package let places: [RedisPlace]
  package var arrangement = Arrangement.single
  /// True for TLS (`rediss`).
  package let isSecure: Bool
  /// True if tokens may travel in clear to other machines.
  package var allowsPlaintext = false
  package let database: Int
  /// The ACL user; nil is the server's default one.
  package var user: String?
  /// The password; nil if the server asks for none.
  package var password: Secret?
  /// The beginning of every key.
  package var keyPrefix = "bearer-proxy:"

  /// Reads a URL. Only a variable, not the text of a configuration, may contain a password.
  package init(_ text: String, defaultPort: UInt16 = 6379) throws(UnusableText) {
    let lowered = text.prefix(9).lowercased()
    isSecure = lowered.hasPrefix("rediss://")
    guard isSecure || lowered.hasPrefix("redis://") else {
      throw UnusableText("begins neither with redis:// nor with rediss://")
    }
    let rest = text.dropFirst(isSecure ? 9 : 8)
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    var place = rest[..<slash]
    if let at = place.lastIndex(of: "@") {
      let parts = place[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let name = PercentEncoding.decoded(parts[0].utf8),
        let word = PercentEncoding.decoded(parts[1].utf8), !word.isEmpty
      else {
        throw UnusableText.userInformation
      }
      user = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
      password = Secret(word)
      place = place[place.index(after: at)...]
    }
    let number = rest[slash...].dropFirst()
    guard number.isEmpty || (Int(number).map { (0...9999).contains($0) } ?? false), !number.contains("+") else {
      throw Self.unusableDatabase
    }
    var places: [RedisPlace] = []
    for place in place.split(separator: ",", omittingEmptySubsequences: false) {
      places.append(try Self.place(place, defaultPort))
    }
    self.places = places
    database = Int(number) ?? 0
  }

  private static let unusableDatabase = UnusableText(
    "ends in something that is not the number of a database, such as /0")

  private static func place(_ text: Substring, _ defaultPort: UInt16) throws(UnusableText) -> RedisPlace {
    // The default port differs from HTTP's.
    let hasPort = (text.lastIndex(of: ":") ?? text.startIndex) > (text.lastIndex(of: "]") ?? text.startIndex)
    guard let url = HTTPURL(ifValid: "http://" + text) else { throw UnusableText.host }
    guard url.target == "/" else { throw Self.unusableDatabase }
    return RedisPlace(host: url.host, port: hasPort ? url.port : defaultPort)
  }

  /// A place at which tokens would travel in clear to another machine; nil if there is none.
  package func exposed(_ places: [RedisPlace]) -> RedisPlace? {
    isSecure || allowsPlaintext ? nil : places.first { !$0.isLoopback }
  }

  /// True if other servers replace one that is lost.
  package var isReplicated: Bool { arrangement != .single }

  /// Without user and password.
  package var description: String {
    let places = places.map(\.description).joined(separator: ",")
    return "\(isSecure ? "rediss" : "redis")://\(places)/\(database)"
  }

  /// Hashes the address; secrets are compared, never hashed.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(places)
    hasher.combine(database)
    hasher.combine(user)
  }
}
