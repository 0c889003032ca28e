// `tls`, `timeouts` and `pool`, under `defaults` and on a route, which completes its own from those.

internal import Bytes
internal import HTTP
internal import Routing

/// The values for a route that gives none.
struct UpstreamDefaults {
  var tls = UpstreamTLSSettings()
  var timeouts = ExchangeTimeouts()
  /// For a caller's head: the same for all routes.
  var requestHead = ServiceLimits().requestHead
  var pool = PoolLimits()
}

extension SettingsDecoder {
  /// The three sections of a mapping, completed by the defaults.
  mutating func upstreamSettings(_ section: Section) -> UpstreamDefaults {
    var result = defaults
    if let tls = self.section(section, .tls) {
      result.tls.caFile = readableFile(tls, .caFile) ?? result.tls.caFile
      // A certificate and its key come from one place: a route's key never meets the defaults' certificate.
      result.tls.clientCertificate = certificateFiles(tls) ?? result.tls.clientCertificate
      if tls.has(.serverName), let name = scalar(tls, .serverName) {
        result.tls.serverName = hostName(name)
      }
    }
    if let timeouts = self.section(section, .timeouts) {
      result.timeouts.connect = duration(timeouts, .connect) ?? result.timeouts.connect
      if timeouts.has(.requestHead) {
        result.requestHead = duration(timeouts, .requestHead) ?? result.requestHead
      }
      result.timeouts.responseHead = duration(timeouts, .responseHead) ?? result.timeouts.responseHead
      result.timeouts.idle = duration(timeouts, .idle) ?? result.timeouts.idle
      result.timeouts.whole = durationOrNone(timeouts, .exchange) ?? result.timeouts.whole
    }
    if let pool = self.section(section, .pool) {
      result.pool.maximumIdle = integer(pool, .maxIdle) ?? result.pool.maximumIdle
      result.pool.idleTimeout = duration(pool, .idleTimeout) ?? result.pool.idleTimeout
    }
    return result
  }

  /// The way out that a section names: `none`, or a proxy; else the environment's.
  mutating func proxyChoice(_ section: Section) -> ProxyChoice {
    guard let scalar = scalar(section, .proxy) else { return .environment(proxies) }
    if scalar.text == "none" { return .none }
    do throws(UnusableText) {
      let address = try ProxyAddress(scalar.text)
      given[scalar.key]?.value = address.description
      if isMetadataService(host: address.host) {
        report(scalar, "\(address.host) hands out this machine's cloud credentials and is never a proxy")
      }
      if address.credential != nil, scalar.written == scalar.text {
        report(scalar, that: "has a password in it; use a variable, such as http://${PROXY_USER}@host:port")
      }
      return .fixed(address)
    } catch {
      report(scalar, that: error.reason)
      return .none
    }
  }
}
