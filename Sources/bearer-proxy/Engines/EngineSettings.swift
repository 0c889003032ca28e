import Bytes
import Configuration
import HTTP
import Routing

/// The sources of every engine's part: the listener that hands tokens out, and the routes whose tokens it gives.
struct EngineSettings {
  let listener: ListenerSettings
  /// Longer paths first: some engines take the first that fits.
  let routes: [RouteSettings]
  /// The file of the authorities that an upstream's certificate needs, if the route names none.
  let defaultTrust: String
  /// Requests at once on a connection with HTTP/2, at most.
  var streams = ServiceLimits().streams

  init(listener: ListenerSettings, routes: [RouteSettings], defaultTrust: String) {
    self.listener = listener
    self.routes = routes.enumerated().sorted {
      ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
    }.map(\.element)
    self.defaultTrust = defaultTrust
  }

  /// The hosts of the routes in their order, each once; nil for routes of every host.
  var hosts: [String?] {
    var hosts: [String?] = []
    for route in routes where !hosts.contains(route.host) { hosts.append(route.host) }
    return hosts
  }

  /// The routes that take requests of a host: its own first, then those of every host whose path is not taken.
  func routes(of host: String?) -> [RouteSettings] {
    let own = routes.filter { $0.host == host }
    guard host != nil else { return own }
    return own + routes.filter { route in route.host == nil && !own.contains { $0.path == route.path } }
  }

  /// The names by which programs call routes of every host. A web page can give its own name this address (DNS
  /// rebinding); its requests then look like a program's.
  static var names: [String] { ["localhost", "127.0.0.1"] }

  /// The names by which programs call some route.
  var allNames: [String] { hosts.flatMap { $0.map { [$0] } ?? Self.names } }

  /// Two routes whose words are the same; nil if there are none.
  var sameWord: (RouteSettings, RouteSettings)? {
    for (index, route) in routes.enumerated() {
      if let other = routes[..<index].first(where: { $0.word == route.word }) { return (other, route) }
    }
    return nil
  }

  /// The path of the listener's unix socket; nil for an address.
  var socketPath: String? { if case .unix(let path) = listener.address.value.kind { path } else { nil } }

  /// The field that carries the secret of `callers.header`.
  var secretField: String? { listener.callers.rules.header?.name }

  var scheme: String { listener.tls == nil ? "http" : "https" }

  var address: String { listener.address.value.description }

  /// The URL before a path at the listener, if it has an address.
  var origin: String { "\(scheme)://\(address)" }

  /// Fields of callers that decide about the token of some route.
  var tokenFields: [String] {
    var fields: [String] = []
    for field in routes.flatMap(\.tokenFields) where !fields.contains(field) { fields.append(field) }
    return fields
  }

  var needsCertificate: Bool { listener.callers.rules.certificateNames != nil }

  /// The authorities for the API's certificate.
  func trust(of route: RouteSettings) -> String { route.tls.caFile?.value ?? defaultTrust }

  /// Fields by which a page gives itself away: a question that has one gets no token.
  static var browserFields: [String] { ["Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode"] }
}

extension RouteSettings {
  /// The name as a word of engines' variables and names. It begins with a letter: `$3` is a part of a match in nginx.
  var word: String {
    let word = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    return word.first?.isLetter == true ? word : "route_\(word)"
  }

  /// The path as a regular expression.
  var pathExpression: String {
    path.map { "\\.+*?()[]{}|^$".contains($0) ? "\\\($0)" : "\($0)" }.joined()
  }

  /// Fields of the caller that decide about the token.
  var tokenFields: [String] {
    let own = token.isCallers || tokenRules.existing != .replace ? [credentialField] : []
    return own + [tokenChoice?.field].compactMap(\.self)
  }

  /// The field that is copied from the answer of bearer-proxy.
  var credentialField: String { token.fixed?.name.text ?? "Authorization" }

  /// Fields of the caller that the API must not get, as when bearer-proxy forwards: those that replace path or host,
  /// those that replace the method if the route limits it, and the one that chooses the token.
  var removedFields: [String] {
    let choice = [tokenChoice?.field.lowercased()].compactMap(\.self)
    return TargetOverride.names.texts + (methods == nil ? [] : MethodOverride.names.texts) + choice
  }

  /// The host of a question about the token.
  var questionHost: String { host ?? "localhost" }

  /// The name in the API's certificate.
  var certificateName: String { tls.serverName ?? upstream.value.host }
}

extension FieldNameSet {
  /// The names in lower case.
  var texts: [String] { FieldName.allCases.filter(contains).map { "\($0.text)" } }
}

extension HTTPURL {
  /// The host as it is written before a port.
  var writtenHost: String { host.contains(":") ? "[\(host)]" : host }
}
