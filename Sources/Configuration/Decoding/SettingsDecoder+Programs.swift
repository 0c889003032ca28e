// `programs` of a listener: the programs, the shape of their requests, and their tokens.

import Bytes
import HTTP
import Routing
import Tokens

extension SettingsDecoder {
  /// Adds the programs of every listener, which name routes and applications.
  mutating func decodePrograms() {
    var places: [String: Place] = [:]
    for (index, section) in programSections.sorted(by: { $0.key < $1.key }) {
      let listener = listeners[index]
      for (name, section) in namedSections(section, .programs) {
        guard let section else { continue }
        if let place = places[name] {
          report(section, "a program '\(name)' is on line \(place.line) already; choose another name")
        }
        places[name] = section.place
        if let program = program(section, name, listener) {
          reportLikeness(of: program, to: listeners[index].programs, section)
          listeners[index].programs.append(program)
        }
      }
      if case .mapping(let members)? = section[.programs]?.content, members.isEmpty {
        report(section.place, "\(section.path(.programs)) is empty: nothing would be served")
      }
      for key in [Key.signIn, .handOut] where section.members[key] != nil {
        report(
          section[key]?.place ?? section.place,
          "\(section.path(key)): a listener with programs serves nothing else; give this a listener of its own")
      }
    }
  }

  private mutating func program(_ section: Section, _ name: String, _ listener: ListenerSettings) -> ProgramSettings? {
    let known = issues.count
    let shape = chosen(section, .shape, of: ProgramShape.self)
    let secret = secret(section, .secret, file: .secretFile)
    let life = duration(section, .leastLife) ?? ProgramSettings.usualLife
    checkSecret(secret, shape, section)
    if shape == .imds { checkReach(listener, section) }
    let tokens = sections(section, .tokens, orElse: "the program would get no token").compactMap {
      programToken($0, shape, listener)
    }
    guard issues.count == known else { return nil }
    return ProgramSettings(name: name, shape: shape, secret: secret, leastLife: life, tokens: tokens)
  }

  private mutating func checkSecret(_ secret: Secret?, _ shape: ProgramShape, _ section: Section) {
    let written = section.members[.secret] ?? section.members[.secretFile]
    if shape == .imds {
      if let written { report(written.place, "\(section.path): programs show no secret with shape: imds; remove it") }
      return
    }
    if written == nil { reportMissing(.secretFile, in: section) }
    if let secret { checkStrength(of: secret, section) }
  }

  /// Reports a secret that can be guessed, or that no field can carry.
  mutating func checkStrength(of secret: Secret, _ section: Section) {
    if 16 <= secret.count, secret.isVisibleASCII { return }
    report(section, "the secret is at least 16 visible ASCII characters: 'openssl rand -hex 24' makes one")
  }

  /// The shape without a secret is for an address that only the program's own network namespace reaches.
  private mutating func checkReach(_ listener: ListenerSettings, _ section: Section) {
    let address = listener.address.value
    if !listener.callers.rules.isOpen {
      report(
        section,
        "with shape: imds every program that can connect gets tokens; write 'callers: {anyone: true}' "
          + "at the listener, or use shape: app_service, which has a secret")
    } else if listener.hosts == .any {
      report(
        section,
        "with shape: imds and 'hosts: [\"*\"]' pages in browsers would get tokens; list the names of "
          + "the listener, or none")
    } else if !address.isLoopback, address.host != "169.254.169.254" {
      report(
        section,
        "with shape: imds others than the program would reach \(address); listen at a loopback "
          + "address, at 169.254.169.254 in the program's network namespace, or use shape: app_service")
    }
  }

  private mutating func programToken(
    _ section: Section, _ shape: ProgramShape, _ listener: ListenerSettings
  ) -> ProgramSettings.Token? {
    let resources = (list(section, .resources) ?? []).map(\.text)
    let identities = Set((list(section, .identities) ?? []).map(\.text))
    if shape == .tokenEndpoint, let node = section[.identities] {
      report(node, that: "is for shapes of managed identities")
    }
    let known = issues.count
    let source: ProgramSettings.Token.Source
    let scopes: ScopeSet
    if let name = scalar(section, .route) {
      guard let route = routes.first(where: { $0.name == name.text }) else {
        return refuse(
          name, "there is no route '\(name.written)'",
          suggestion: nearestWord(to: name.text, among: routes.map(\.name)))
      }
      checkRoute(route, name, shape, listener)
      (source, scopes) = (.route(route.name), route.token.issued?.scopes ?? .none)
    } else {
      guard let reference = application(section), let wanted = self.scopes(section) else {
        return nil
      }
      if let settings = applications[reference.value]?.settings {
        checkApplication(settings, settings.authority.value, reference, wanted, section)
      }
      (source, scopes) = (.application(reference.value, wanted), wanted)
    }
    if shape != .tokenEndpoint, resources.isEmpty, ProgramToken.resources(of: scopes).isEmpty, issues.count == known {
      report(
        section,
        that: "needs 'resources': programs with shape: \(shape.rawValue) ask by resource, and no scope ends "
          + "in /.default")
    }
    return ProgramSettings.Token(source: source, resources: resources, identities: identities)
  }

  private mutating func checkRoute(
    _ route: RouteSettings, _ name: Scalar, _ shape: ProgramShape, _ listener: ListenerSettings
  ) {
    if route.token.issued == nil { report(name, "route '\(route.name)' has no token") }
    guard route.token.isCallers else { return }
    if shape != .tokenEndpoint {
      report(
        name,
        "route '\(route.name)' exchanges callers' tokens (as: caller), and programs with shape: "
          + "\(shape.rawValue) bring none; use shape: token_endpoint")
    } else if listener.callers.rules.bearer == nil {
      report(
        name,
        "route '\(route.name)' exchanges callers' tokens (as: caller); set 'callers: {bearer: …}' at the "
          + "listener, which says whose subject_token is accepted")
    }
  }

  private mutating func reportLikeness(of program: ProgramSettings, to others: [ProgramSettings], _ section: Section) {
    let alike = others.first { other in
      program.shape == .imds && other.shape == .imds || program.secret.map { $0 == other.secret } ?? false
    }
    guard let alike else { return }
    report(
      section.place,
      program.shape == .imds
        ? "\(section.path): nothing tells this program from '\(alike.name)': a listener has one with shape: imds"
        : "\(section.path): '\(alike.name)' has the same secret; give each program its own")
  }
}

extension Secret {
  /// True if a field can carry it.
  var isVisibleASCII: Bool {
    let bytes = self.bytes
    for index in bytes.indices where bytes[index] <= 0x20 || 0x7F <= bytes[index] { return false }
    return true
  }
}
