// The addresses at which `status` and `token --format` ask the running instance of a configuration.

import Bytes
import Configuration
import HTTP
import HTTPClient
import Platform
import Routing

/// The way to a listener for another process of its machine.
struct AdminDoor {
  let address: SocketAddress
  private let url: HTTPURL
  private let socket: SocketAddress
  private let secret: CallerRules.Header?

  /// nil if the port is not known beforehand.
  init?(_ settings: AdminSettings) {
    // At an address of this machine every process may ask; a secret would be disclosed to a process that took the port.
    // 0.0.0.0 and :: are every address of the machine, loopback among them.
    let address = settings.address.value
    let isOwn = address.isLoopback || address.ipAddress?.isUnspecified == true
    self.init(address, secret: isOwn ? nil : settings.callers.rules.header)
  }

  /// The same for an address alone.
  init?(_ address: SocketAddress, secret: CallerRules.Header?) {
    self.address = address
    self.secret = secret
    let isEverywhere = address.ipAddress?.isUnspecified == true
    var place = "localhost"
    switch address.kind {
    case .unix: break
    case .ipv4(_, port: 0), .ipv6(_, port: 0, _): return nil
    case .ipv4(_, let port) where isEverywhere: place = "127.0.0.1:\(port)"
    case .ipv6(_, let port, _) where isEverywhere: place = "[::1]:\(port)"
    case .ipv4, .ipv6: place = address.description
    }
    guard let url = HTTPURL(readable: "http://\(place)/") else { return nil }
    self.url = url
    if address.ipAddress == nil {
      socket = address
    } else {
      guard let literal = SocketAddress(literal: url.host, port: url.port) else { return nil }
      socket = literal
    }
  }

  func question(_ target: String) -> FetchRequest {
    var url = url
    url.target = target
    var fields = [(name: "accept", value: "application/json")]
    if let secret {
      let value = secret.value.bytes.text
      fields.append((secret.name.lowercased(), value))
    }
    return FetchRequest(.get, url, fields: fields)
  }

  func fetch(_ fetcher: Fetcher, within limit: TimeSpan = .seconds(5)) -> Fetch {
    fetcher.bound(to: socket, timeout: limit)
  }

  /// The places to ask, the recorded ones first, and the configuration's own last.
  static func all(
    of configuration: String, _ settings: Result<AdminSettings?, CommandError>, _ environment: [String: String]
  ) throws(CommandError) -> [AdminDoor] {
    let admin: AdminSettings?
    let recorded = InstanceRecord.admins(of: configuration, environment: environment)
    switch settings {
    case .success(let found): admin = found
    case .failure where !recorded.isEmpty: admin = nil
    case .failure(let error): throw error
    }
    var doors = recorded.filter { $0 != admin?.address.value }.compactMap { AdminDoor($0, secret: nil) }
    if let admin, let door = AdminDoor(admin) { doors.append(door) }
    if !doors.isEmpty { return doors }
    guard admin != nil else {
      throw .usage("\(configuration) has no 'admin' section, so there is no address to ask; add admin: {address: …}")
    }
    throw .usage(
      "the admin listener's port is chosen by the system, and no running instance has recorded it; give it a port")
  }
}
