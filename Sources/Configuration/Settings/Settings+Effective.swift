// The list of all values in force with their sources: the values of the file, those that override it, and
// the defaults of everything else.

internal import Bytes
internal import HTTP
internal import Routing
internal import Tokens

extension Settings {
  /// Every value in force: those of the file in its order, then the defaults.
  /// - Parameter above: what the command line and the environment say instead of the file.
  package func effectiveValues(above: [ConfiguredValue] = []) -> [ConfiguredValue] {
    let overridden = Dictionary(above.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    let given = self.given.map { overridden[$0.key] ?? $0 }
    var known = Set(given.map(\.key))
    let added = above.filter { known.insert($0.key).inserted }
    return given + added + (computed + standards).filter { known.insert($0.key).inserted }
  }

  /// The defaults that depend on other values.
  private var computed: [ConfiguredValue] {
    var values = [ConfiguredValue("limits.target_bytes", sizeText(limits.head.targetBytes), .standard)]
    for application in applications {
      let path = "applications.\(application.name)"
      values.append(Self.value(of: application.proxy.proxy(for: application.authority.value.url), path))
      let redirectURI: RedirectURIChoice = application.callback == .shared ? .shared : .own
      values.append(ConfiguredValue("\(path).redirect_uri", redirectURI.rawValue, .standard))
    }
    for (index, route) in routes.enumerated() {
      let path = "routes[\(index)]"
      values.append(Self.value(of: route.proxy, path))
      // Trust is inherited too, and is what a reviewer looks for. A certificate and its key come from one section.
      for (key, file) in [
        ("tls.ca_file", route.tls.caFile), ("tls.certificate_file", route.tls.clientCertificate?.certificateFile),
        ("tls.key_file", route.tls.clientCertificate?.keyFile),
      ] {
        if let file { values.append(ConfiguredValue("\(path).\(key)", file.value, .inherited("defaults.\(key)"))) }
      }
    }
    return values
  }

  private static func value(of proxy: ProxyAddress?, _ path: String) -> ConfiguredValue {
    ConfiguredValue("\(path).proxy", proxy?.description ?? "none", proxy?.variable.map { .variable($0) } ?? .standard)
  }
}
