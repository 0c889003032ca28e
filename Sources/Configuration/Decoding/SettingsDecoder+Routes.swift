import Bytes
import HTTP
import Routing
import Tokens

extension SettingsDecoder {
  mutating func decodeRoutes(_ file: Section) {
    var places: [String: Place] = [:]
    for section in sections(file, .routes, orElse: "nothing would be forwarded") {
      let name = routeName(section, places: &places)
      let route = route(section, name: name)
      guard let route else { continue }
      if let other = routes.first(where: { $0.matchesSameRequests(as: route) }) {
        report(
          route.place,
          "\(section.path) takes the same requests as route '\(other.name)' on line \(other.place.line); change its "
            + "path, host or methods")
      }
      if let file = route.tokenFile?.path, let other = routes.first(where: { $0.tokenFile?.path.value == file.value }) {
        report(file, "\(file.value) is the token file of route '\(other.name)' already")
      }
      routes.append(route)
    }
  }

  private mutating func routeName(_ section: Section, places: inout [String: Place]) -> String? {
    guard let scalar = scalar(section, .name), checkName(scalar.text, place: scalar.place, key: scalar.key) else {
      return nil
    }
    if let place = places[scalar.text] {
      report(scalar, "a route '\(scalar.written)' is already on line \(place.line); choose another name")
    }
    places[scalar.text] = scalar.place
    return scalar.text
  }

  /// The name that people read: a few words on one line.
  mutating func displayName(_ section: Section) -> String? {
    guard let scalar = scalar(section, .displayName) else { return nil }
    if scalar.text.count <= 80, scalar.text.printable(limit: 400) == scalar.text { return scalar.text }
    return refuse(scalar, that: "is at most 80 characters on one line, not '\(scalar.written)'")
  }

  /// Names appear in logs, metrics and URLs.
  mutating func checkName(_ name: String, place: Place, key: String) -> Bool {
    if isSectionName(name) { return true }
    report(place, "\(key): '\(name)' is not a name of at most 64 letters, digits, '-', '_', '.'")
    return false
  }

  private mutating func route(_ section: Section, name: String?) -> RouteSettings? {
    let displayName = displayName(section)
    let host = scalar(section, .host).flatMap { hostName($0) }
    let path = routePath(section)
    let methods = self.methods(section)
    let upstream = self.upstream(section)
    let tokenSection = tokenSection(section)
    let token = self.token(section, tokenSection)
    let tokenChoice = tokenSection.flatMap { self.tokenChoice($0, token) }
    var tokenRules = tokenSection.map { self.tokenRules($0) } ?? RouteTokenRules()
    tokenRules.isHandedOut = isHandedOut(section, token, tokenRules)
    let tokenFile = self.tokenFile(section, token)
    let requestFields = self.requestFields(section, beside: token)
    let preserveHost = boolean(section, .preserveHost)
    let allowPlaintext = boolean(section, .allowPlaintext)
    let upgrades = Set(choices(section, .upgrade).compactMap(UpgradeProtocol.init))
    let versions = chosen(section, .protocol, of: UpstreamProtocol.self)
    let encodedPath = choices(section, .encodedPath).reduce(into: EncodedPath()) { allowed, name in
      for known in EncodedPath.names where known.name == name { allowed.insert(known.value) }
    }
    let probe = self.probe(section)
    var settings = self.upstreamSettings(section)
    let proxy = proxyChoice(section)
    guard let name, let path, let upstream, let token else { return nil }
    if let application = token.issued.flatMap({ applications[$0.application]?.settings }), application.hasBoundTokens {
      checkBoundTokens(section, upstream, application)
      settings.tls.clientCertificate = nil
    }
    if token != .none, upstream.value.scheme == .http, !upstream.value.isLoopback, !allowPlaintext {
      report(
        upstream,
        "the token of route '\(name)' would travel in clear to \(upstream.value.host); use https:, or set "
          + "allow_plaintext: true")
    }
    return RouteSettings(
      name: name, displayName: displayName, place: section.place, host: host, path: path, methods: methods,
      upstream: upstream, token: token, tokenChoice: tokenChoice,
      tokenRules: tokenRules, tokenFile: tokenFile, requestFields: requestFields, preserveHost: preserveHost,
      upgrades: upgrades, encodedPath: encodedPath, allowPlaintext: allowPlaintext, probe: probe, tls: settings.tls,
      timeouts: settings.timeouts, pool: settings.pool, proxy: proxy.proxy(for: upstream.value), versions: versions)
  }

  /// A route whose tokens are handed out has one for every request.
  private mutating func isHandedOut(_ section: Section, _ token: RouteToken?, _ rules: RouteTokenRules) -> Bool {
    guard chosen(section, .handOut, of: HandOut.self) == .proxies, let node = section[.handOut] else { return false }
    if token == RouteToken.none {
      report(node, "the route has no token")
    } else if let name = token?.fixed?.name.text, !isPlain(name, allowing: "-") {
      report(node, "not every proxy can copy the field '\(name)': its name has more than letters, digits and '-'")
    } else if rules.whenUnavailable == .forwardWithout {
      report(node, "without a token there is nothing to hand out; remove when_unavailable: forward_without")
    }
    return true
  }

  /// Bound tokens are for upstreams that are shown the same certificate (RFC 8705 §3).
  private mutating func checkBoundTokens(
    _ section: Section, _ upstream: Located<HTTPURL>, _ application: ApplicationSettings
  ) {
    if upstream.value.scheme == .http {
      report(
        upstream,
        "the tokens of application '\(application.name)' are bound to its certificate (bound_tokens), which only "
          + "https: can show")
    }
    guard let certificate = member(section, .tls, .certificateFile) else { return }
    report(
      certificate.value,
      "application '\(application.name)' has bound_tokens, so the upstream is shown its certificate; remove this one")
  }

  private mutating func probe(_ section: Section) -> String? {
    guard let scalar = scalar(section, .probe) else { return nil }
    if isProbePath(scalar.text) { return scalar.text }
    return refuse(scalar, "'\(scalar.written)' is not a path without '..', blanks and fragment, such as me?$top=1")
  }

  private mutating func routePath(_ section: Section) -> String? {
    guard let scalar = scalar(section, .path) else { return nil }
    if let reason = routePathReason(scalar.text) { return refuse(scalar, "'\(scalar.written)' \(reason)") }
    return scalar.text
  }

  private func routePathReason(_ path: String) -> String? {
    if !path.hasPrefix("/") || !path.hasSuffix("/") { return "does not begin and end with '/'" }
    // RFC 3986 §3.3: pchar without pct-encoded, and the slash.
    if !isPlain(path, allowing: "-._~!$&'()*+,;=:@/") {
      return "has a character that a path contains only percent-encoded, or '%'"
    }
    if path.contains("//") || !isNormal(path) {
      return "has an empty segment, '.' or '..'; requests are matched after those are resolved"
    }
    return path.lowercased().hasPrefix("/.bearer/") ? "belongs to the proxy's own pages under /.bearer/" : nil
  }

  /// True if a path is in its normal form. Requests are matched by that, so that no other path can match.
  private func isNormal(_ path: String) -> Bool {
    var buffer = ByteBuffer(capacity: path.utf8.count)
    return NormalPath.normalise(Array(path.utf8).span, into: &buffer) == .alreadyNormal
  }

  private mutating func methods(_ section: Section) -> Set<String>? {
    guard let scalars = list(section, .methods) else { return nil }
    var methods: Set<String> = []
    for scalar in scalars {
      if scalar.text == "CONNECT" {
        report(scalar, "CONNECT asks for a tunnel; this proxy makes none")
      } else if scalar.text.utf8.allSatisfy({ (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "-") }) {
        methods.insert(scalar.text)
      } else {
        let upper = scalar.text.uppercased()
        report(
          scalar, "'\(scalar.written)' is not a method in capital letters",
          suggestion: upper.utf8.allSatisfy { (0x41...0x5A).contains($0) } ? upper : nil)
      }
    }
    return methods
  }

  private mutating func upstream(_ section: Section) -> Located<HTTPURL>? {
    guard let scalar = scalar(section, .upstream), var url = url(scalar) else { return nil }
    // The rest of a request's path is appended to whole segments.
    if !url.target.contains("?"), !url.target.hasSuffix("/") { url.target += "/" }
    if url.target.contains("?") {
      report(scalar, "'\(scalar.written)' has a query; the caller's query is passed on instead")
    } else if isMetadataService(host: url.host) {
      report(scalar, "\(url.host) hands out this machine's cloud credentials and is never an upstream")
    } else if !isNormal(url.target) {
      report(scalar, "'\(scalar.written)' has '.', '..' or a needless percent-encoding in its path")
    } else {
      return scalar.located(url)
    }
    return nil
  }
}

/// True if a text can follow an upstream's path without leaving it.
package func isProbePath(_ text: String) -> Bool {
  let path = text.prefix { $0 != "?" }
  let isPlain = text.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "#") }
  var buffer = ByteBuffer(capacity: 64)
  return isPlain
    && NormalPath.normalise(Array("/\(path.drop { $0 == "/" })".utf8).span, into: &buffer) == .alreadyNormal
}

extension RouteSettings {
  /// True if one request can match both equally well: same host, same path, a method in common.
  fileprivate func matchesSameRequests(as other: RouteSettings) -> Bool {
    guard host == other.host, path == other.path else { return false }
    guard let methods, let others = other.methods else { return true }
    return !methods.isDisjoint(with: others)
  }
}
