// The question whether a route leads back to a listener of the same process. Such a request never reaches an API: the
// process refuses what has passed it before.

internal import Bytes
internal import HTTP

extension SettingsDecoder {
  /// Reports each route whose upstream is one of the listeners.
  mutating func reportLoops() {
    for route in routes where route.proxy == nil {
      let url = route.upstream.value
      guard let own = listeners.first(where: { $0.answers(host: url.host, port: url.port) }) else { continue }
      report(
        route.upstream,
        "route '\(route.name)' leads to this proxy's own listener on line \(own.address.place.line): requests would "
          + "come back and be refused as a loop; name the API's own address")
    }
  }
}

extension ListenerSettings {
  /// True if a connection to a host and port arrives here, as far as the configuration tells. The addresses of a name,
  /// and those of the machine beside loopback, are known at run time only.
  fileprivate func answers(host: String, port: UInt16) -> Bool {
    guard let listening = address.value.ipAddress?.unmapped, port == address.value.port else { return false }
    if case .names(let names) = hosts, names.contains(host) { return true }
    let isThisMachine = host == "localhost" || host.hasSuffix(".localhost")
    guard let called = IPAddress(host)?.unmapped else {
      return isThisMachine && (listening.isLoopback || listening.isUnspecified)
    }
    if called == listening { return true }
    return listening.isUnspecified && (called.isLoopback || called.isUnspecified)
      || called.isUnspecified && listening.isLoopback
  }
}
