internal import Bytes
import HTTP
import Routing
import Tokens

extension SettingsDecoder {
  /// The callers of a listener at `address`, with or without TLS.
  mutating func callers(_ section: Section, address: SocketAddress?, hasTLS: Bool) -> CallerSettings {
    var settings = CallerSettings.none
    guard let callers = self.section(section, .callers) else { return settings }
    if boolean(callers, .anyone) { settings.rules.isOpen = true }
    settings.rules.peers = peers(callers, address: address)
    settings.rules.header = header(callers)
    settings.issuer = issuer(callers)
    settings.rules.bearer = settings.issuer.map {
      CallerRules.Bearer(
        authority: $0.authority.value, audiences: $0.audiences, scopes: $0.scopes, publicURL: $0.publicURL)
    }
    // The admin listener takes neither, and its rules are for control beside an `anyone` for probes.
    guard callers.has(.certificate) else { return settings }
    if let (trust, names) = certificates(callers, hasTLS: hasTLS) {
      settings.certificateTrust = trust
      settings.rules.certificateNames = names
    }
    settings.rules.origins = origins(callers).sorted().map { Array($0.utf8) }
    return settings
  }

  private mutating func peers(_ callers: Section, address: SocketAddress?) -> CallerRules.Peers? {
    guard let section = self.section(callers, .unix) else { return nil }
    if address?.ipAddress != nil {
      report(section, that: "is for a unix socket; other callers show no user: take another rule")
    }
    let users = identifiers(section, .uids)
    let groups = identifiers(section, .gids)
    return CallerRules.Peers(users: users, groups: groups)
  }

  private mutating func identifiers(_ section: Section, _ key: Key) -> Set<UInt32> {
    var identifiers: Set<UInt32> = []
    for scalar in list(section, key) ?? [] {
      if let identifier = UInt32(scalar.text) {
        identifiers.insert(identifier)
      } else {
        report(scalar, that: "is a user's or group's number, not '\(scalar.written)'")
      }
    }
    return identifiers
  }

  private mutating func header(_ callers: Section) -> CallerRules.Header? {
    guard let section = self.section(callers, .header) else { return nil }
    let name = scalar(section, .name)
    let value = secret(section, .value, file: .valueFile)
    guard let name, let value else { return nil }
    guard FieldName.isName(name.text) else { return refuse(name, "'\(name.written)' is not a field name") }
    // A field with a meaning of its own would lose it: this one is taken out before the request goes on.
    guard FieldName(Array(name.text.utf8).span) == .other else {
      return refuse(name, "'\(name.written)' has another meaning already; take a name such as X-Proxy-Key")
    }
    checkStrength(of: value, section)
    return CallerRules.Header(name: name.text, value: value)
  }

  private mutating func certificates(_ callers: Section, hasTLS: Bool) -> (trust: Located<String>, names: Set<String>)?
  {
    guard let section = self.section(callers, .certificate) else { return nil }
    if !hasTLS { report(section, that: "needs a listener that speaks TLS: give it 'tls'") }
    let subjects = Set((list(section, .subjects) ?? []).map(\.text))
    return readableFile(section, .caFile).map { ($0, subjects) }
  }

  private mutating func issuer(_ callers: Section) -> CallerSettings.Issuer? {
    guard let section = self.section(callers, .bearer) else { return nil }
    let authority = self.authority(section)
    let audiences = Set((list(section, .audiences) ?? []).map(\.text))
    let caFile = readableFile(section, .caFile)
    // Those of the admin listener do not describe themselves.
    let describesItself = section.has(.publicURL)
    let scopes = describesItself ? apiScopes(section, .scopes) : .none
    let publicURL = describesItself ? publicURL(section) : nil
    guard let authority, !audiences.isEmpty else { return nil }
    return CallerSettings.Issuer(
      authority: authority, audiences: audiences, scopes: scopes, publicURL: publicURL, caFile: caFile,
      proxy: .environment(proxies))
  }

  private mutating func origins(_ callers: Section) -> Set<String> {
    var origins: Set<String> = []
    for scalar in list(callers, .origins) ?? [] {
      let text = scalar.text.lowercased()
      do throws(HTTPURLError) {
        // An origin is a URL's beginning: without path, and without the scheme's own port (RFC 6454 §6.2).
        let url = try HTTPURL(text)
        if url.origin == text {
          origins.insert(text)
        } else {
          report(scalar, "'\(scalar.written)' is not an origin such as \(url.origin)")
        }
      } catch {
        report(scalar, urlReason(error, written: scalar.written))
      }
    }
    return origins
  }
}
