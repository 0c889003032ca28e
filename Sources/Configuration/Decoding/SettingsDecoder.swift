// The walk over a configuration's tree: sections, their keys and the mistakes found on the way. It never stops at a
// mistake. How single values are read stands in SettingsDecoder+Values; what the sections mean, in the other
// extensions.

internal import Routing

/// A mapping of the file whose keys are known.
struct Section {
  /// The path of keys that leads here; empty for the file itself.
  let path: String
  let place: Place
  let shape: SectionShape
  let members: [Key: YAMLNode.Member]

  subscript(_ key: Key) -> YAMLNode? {
    assert(shape.shape(of: key) != nil, "\(path) is asked for a key that its shape does not have")
    return members[key]?.value
  }

  /// Whether the key may stand here at all.
  func has(_ key: Key) -> Bool {
    shape.shape(of: key) != nil
  }

  func path(_ key: Key) -> String {
    path.isEmpty ? key.rawValue : "\(path).\(key.rawValue)"
  }
}

/// Collects settings and issues while it walks the tree.
struct SettingsDecoder {
  let file: String
  let environment: [String: String]
  let files: FileAccess
  var issues: [ConfigurationIssue]
  /// What is allowed, and hardly meant.
  var warnings: [ConfigurationIssue] = []
  var allowsReadableSecrets = false
  /// The way out where the file does not say.
  var proxies = ProxyEnvironment([:]) { _, _ in }
  /// What the file gives, by the path of keys.
  var given: [String: ConfiguredValue] = [:]
  /// Every file that a setting named, whether it could be read or not.
  var filesRead: Set<String> = []

  mutating func report(_ place: Place, _ message: String, suggestion: String? = nil) {
    issues.append(ConfigurationIssue(place, message, suggestion: suggestion))
  }

  /// Keeps a value for `/config`.
  mutating func note(_ value: ConfiguredValue) {
    given[value.key] = value
  }

  /// The file's settings; `nil` only together with issues.
  mutating func settings(_ root: YAMLNode) -> Settings? {
    guard let file = section(root, shape: .file, path: "") else { return nil }
    var unusable: [(name: String, reason: String)] = []
    proxies = ProxyEnvironment(environment) { unusable.append(($0, $1)) }
    for variable in unusable { report(root.place, "the environment's \(variable.name) \(variable.reason)") }
    allowsReadableSecrets = boolean(file, .allowReadableSecrets) == true
    reportWriters(of: self.file, .whole(self.file), nil)
    let defaults = upstreamDefaults(file)
    let listeners = self.listeners(file)
    let applications = self.applications(file)
    let routes = self.routes(file, applications: applications, defaults: defaults)
    let admin = self.admin(file, besides: listeners)
    reportLoops(routes, listeners)
    reportCallersWithoutToken(routes, listeners)
    let loops = integer(file, .loops, in: 1...256)
    let log = log(file)
    let cache = cache(file)
    var limits = limits(file, defaults)
    let shutdown = shutdown(file, &limits)
    return Settings(
      listeners: listeners,
      loops: loops,
      admin: admin,
      log: log,
      cache: cache,
      limits: limits,
      shutdown: shutdown,
      allowsReadableSecrets: allowsReadableSecrets,
      readyWhen: choice(file, .readyWhen, of: ReadinessRule.self) ?? .tokens,
      timeouts: defaults.timeouts,
      applications: RedirectURIRule.applied(
        to: applications.values.sorted { $0.order < $1.order }.compactMap(\.settings), routes: routes),
      routes: routes,
      given: given.values.sorted { $0.place < $1.place }, found: warnings)
  }

  /// A mapping with known keys. Every other key is reported.
  mutating func section(_ node: YAMLNode, shape: SectionShape, path: String) -> Section? {
    guard case .mapping(let written) = node.content else {
      let name = path.isEmpty ? "the configuration" : path
      let form = shape.keys.prefix(3).map { "\($0.key.rawValue): …" }.joined(separator: ", ")
      report(node.place, "\(name) takes keys of its own (\(form))")
      return nil
    }
    var members: [Key: YAMLNode.Member] = [:]
    for member in written {
      if let key = Key(rawValue: member.key), shape.shape(of: key) != nil {
        members[key] = member
      } else {
        let known = shape.keys.map(\.key.rawValue)
        let location = path.isEmpty ? "" : " in \(path)"
        report(
          member.place, "unknown key '\(member.key)'\(location)", suggestion: nearestWord(to: member.key, among: known))
      }
    }
    return Section(path: path, place: node.place, shape: shape, members: members)
  }

  /// The section under a key; `nil` when the key is absent, or is not a section.
  mutating func section(_ parent: Section, _ key: Key) -> Section? {
    guard let node = parent[key], case .section(let shape)? = parent.shape.shape(of: key) else { return nil }
    return section(node, shape: shape, path: parent.path(key))
  }

  /// The keys of the section under a key, without a word about mistakes in it: those are reported where it is decoded.
  func keys(_ parent: Section, _ key: Key) -> Set<String> {
    guard case .mapping(let members)? = parent[key]?.content else { return [] }
    return Set(members.map(\.key))
  }

  /// The sections of the list under a key.
  mutating func sections(_ parent: Section, _ key: Key) -> [Section] {
    guard let node = parent[key], case .sections(let shape)? = parent.shape.shape(of: key) else { return [] }
    guard case .sequence(let elements) = node.content else {
      report(node.place, "\(parent.path(key)) takes a list, each element beginning with '-'")
      return []
    }
    return elements.enumerated().compactMap { index, element in
      section(element, shape: shape, path: "\(parent.path(key))[\(index)]")
    }
  }

  /// The sections under names that the operator chose.
  mutating func namedSections(_ parent: Section, _ key: Key) -> [(name: String, section: Section?)] {
    guard let node = parent[key], case .namedSections(let shape)? = parent.shape.shape(of: key) else { return [] }
    guard case .mapping(let members) = node.content else {
      report(node.place, "\(parent.path(key)) takes a name and, below it, keys")
      return []
    }
    return members.filter { checkName($0.key, place: $0.place, key: parent.path(key)) }.map { member in
      (member.key, section(member.value, shape: shape, path: "\(parent.path(key)).\(member.key)"))
    }
  }

  /// Reports a key that must be there.
  mutating func reportMissing(_ key: Key, in section: Section) {
    // A key that stands there without a usable value was reported already.
    guard section.members[key] == nil else { return }
    let name = section.path.isEmpty ? "the configuration" : section.path
    report(section.place, "\(name) needs '\(key.rawValue)'")
  }
}
