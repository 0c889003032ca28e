// The listener and admin sections: addresses, accepted hosts, callers.

package import Bytes
import Routing

extension SettingsDecoder {
  mutating func decodeListeners(_ file: Section) {
    for section in sections(file, .listeners, orElse: "no program could call") {
      guard let listener = listener(section) else { continue }
      if section.members[.programs] != nil { programSections[listeners.count] = section }
      reportRepetition(of: listener.address)
      listeners.append(listener)
    }
  }

  private mutating func listener(_ section: Section) -> ListenerSettings? {
    let address = self.address(section)
    let hosts = acceptedHosts(section)
    let tls = self.section(section, .tls).flatMap { certificateFiles($0) }
    let callers = callerRules(section, address: address)
    let signIn = signIn(section, address: address)
    if let signIn { reportUnreachablePages(section, signIn, callers) }
    let handOut = chosen(section, .handOut, of: HandOut.self)
    if handOut == .proxies, let node = section[.handOut], !callers.rules.namesPrograms {
      report(node, "every caller would get tokens; name the callers by unix, header or certificate")
    }
    let http2 = boolean(section, .http2)
    return address.map {
      ListenerSettings(
        address: $0, hosts: hosts, callers: callers, tls: tls, signIn: signIn, handOut: handOut, http2: http2)
    }
  }

  mutating func admin(_ file: Section) -> AdminSettings? {
    guard let section = section(file, .admin) else { return nil }
    let address = self.address(section)
    let callers = callerRules(section, address: address)
    guard let address else { return nil }
    reportRepetition(of: address)
    return AdminSettings(address: address, callers: callers)
  }

  private mutating func address(_ section: Section) -> Located<SocketAddress>? {
    guard let scalar = scalar(section, .address) else { return nil }
    do throws(UnusableText) {
      return scalar.located(try SocketAddress(listener: scalar.text))
    } catch {
      return refuse(scalar, "'\(scalar.written)' \(error.reason)")
    }
  }

  private mutating func reportRepetition(of address: Located<SocketAddress>) {
    if address.value.ipAddress != nil, address.value.port == 0 { return }
    guard let other = listeners.map(\.address).first(where: { $0.value == address.value }) else { return }
    report(address, "\(address.value) is already the address of line \(other.place.line)")
  }

  private mutating func acceptedHosts(_ section: Section) -> AcceptedHosts {
    var names: Set<String> = []
    for scalar in list(section, .hosts) ?? [] {
      if scalar.text == "*" { return .any }
      if let name = hostName(scalar) { names.insert(name) }
    }
    return .names(names)
  }

  /// A host name or address literal in lower case, without port and brackets.
  mutating func hostName(_ scalar: Scalar) -> String? {
    var text = scalar.text.lowercased()
    if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
    if isPlain(text, allowing: "-._") || IPAddress(text) != nil { return text }
    return refuse(scalar, "'\(scalar.written)' is not a host name (no scheme, no port)")
  }

  private mutating func callerRules(_ section: Section, address: Located<SocketAddress>?) -> CallerSettings {
    let hasTLS = section.has(.tls) && section.members[.tls] != nil
    let callers = self.callers(section, address: address?.value, hasTLS: hasTLS)
    if let address, !address.value.isLoopback, !callers.rules.admitsOtherMachines {
      let rules =
        section.has(.tls)
        ? "a header, a certificate, a bearer token, or anyone: true"
        : "anyone: true for probes and metrics alone, a header or a bearer token for everything"
      report(
        address,
        "\(address.value) can be reached from other machines: say under callers who may call (\(rules)), or listen at "
          + "a loopback address or a unix socket")
    }
    return callers
  }

  /// Both files, or neither.
  mutating func certificateFiles(_ section: Section) -> CertificateFiles? {
    let certificate = readableFile(section, .certificateFile)
    let key = readableFile(section, .keyFile)
    if let key { reportExposure(of: key) }
    guard let certificate, let key else { return nil }
    return CertificateFiles(certificateFile: certificate, keyFile: key)
  }
}

extension SocketAddress {
  /// Reads `127.0.0.1:8080`, `[::1]:8080` or `unix:/path`.
  package init(listener text: String) throws(UnusableText) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard path.hasPrefix("/"), path.utf8.count <= 107, !path.utf8.contains(0) else {
        throw UnusableText("is not an absolute path of at most 107 bytes behind 'unix:'")
      }
      self.init(.unix(path: path))
      return
    }
    let form = UnusableText("is not an address such as 127.0.0.1:8080, [::1]:8080 or unix:/run/bearer-proxy.sock")
    guard let colon = text.lastIndex(of: ":") else { throw form }
    var host = text[..<colon]
    let hasBrackets = host.hasPrefix("[") && host.hasSuffix("]")
    if hasBrackets { host = host.dropFirst().dropLast() }
    guard let address = IPAddress(host), hasBrackets == host.contains(":") else {
      if hasBrackets || host.isEmpty || host.contains(":") { throw form }
      throw UnusableText("names a host; a listener takes an IP address such as 127.0.0.1 or [::1]")
    }
    let digits = text[text.index(after: colon)...]
    guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(digits) else {
      throw UnusableText("has no port from 0 to 65535 behind the address")
    }
    self.init(address, port: port)
  }
}
