// Owns how a Redis server's place is written: redis:// or rediss://, host, port and the number of a database. It may
// not hold a password in the configuration's own text, which people show to one another; a variable may bring one.

internal import Bytes
internal import HTTP
internal import Tokens

/// Why a text is not a Redis server's place.
enum RedisAddressError: Error, Hashable {
  /// Neither `redis://` nor `rediss://` stands at the front.
  case scheme
  /// The user information is no `user:password`, percent-encoded.
  case userInformation
  /// The host, or the port.
  case host
  /// Something other than the number of a database follows.
  case database
}

/// Where a Redis server is.
public struct RedisAddress: Sendable, Hashable, CustomStringConvertible {
  /// Host name or address literal in lower case, an IPv6 address without its brackets.
  public let host: String
  /// TCP port.
  public let port: UInt16
  /// Whether TLS is spoken (`rediss`).
  public let isSecure: Bool
  /// The number of the database.
  public let database: Int

  /// Without user and password.
  public var description: String {
    "\(isSecure ? "rediss" : "redis")://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(database)"
  }

  /// Whether only this machine can be at the other end, as far as the text says.
  var isLoopback: Bool {
    host == "localhost" || host == "::1" || host.hasPrefix("127.")
  }

  /// What a URL says.
  static func read(
    _ text: String
  ) throws(RedisAddressError) -> (address: RedisAddress, user: String?, password: Secret?) {
    let lowered = text.prefix(9).lowercased()
    let isSecure = lowered.hasPrefix("rediss://")
    guard isSecure || lowered.hasPrefix("redis://") else { throw .scheme }
    let rest = text.dropFirst(isSecure ? 9 : 8)
    var (user, password): (String?, Secret?) = (nil, nil)
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
    // The port's default is another than HTTP's.
    let hasPort = (place.lastIndex(of: ":") ?? place.startIndex) > (place.lastIndex(of: "]") ?? place.startIndex)
    let url: HTTPURL
    do throws(HTTPURLError) {
      url = try HTTPURL("http://" + place)
    } catch {
      throw .host
    }
    guard url.target == "/" else { throw .database }
    let address = RedisAddress(
      host: url.host, port: hasPort ? url.port : 6379, isSecure: isSecure, database: Int(number) ?? 0)
    return (address, user, password)
  }
}
