// The walk over a configuration's tree: sections, their keys and the mistakes found on the way. It never stops at a
// mistake. SettingsDecoder+Values reads single values; the other extensions decode the sections.

internal import Routing

/// A part of the file with the path of keys that leads to it.
protocol Keyed {
  var place: Place { get }
  var key: String { get }
}

extension Keyed {
  func located<Value>(_ value: Value) -> Located<Value> { Located(value, place: place, key: key) }
}

extension Located: Keyed {}

extension YAMLNode: Keyed {}

/// A mapping of the file whose keys are known.
struct Section: Keyed {
  /// The path of keys that leads here; empty for the file itself.
  let path: String
  let place: Place
  let shape: SectionShape
  let members: [Key: YAMLNode.Member]

  var key: String { path }

  subscript(_ key: Key) -> YAMLNode? {
    assert(shape[key] != nil, "\(path) is asked for a key that its shape does not have")
    return members[key]?.value
  }

  /// True if the key is allowed in this section.
  func has(_ key: Key) -> Bool { shape[key] != nil }

  /// The key's kind, bounds and default.
  func row(_ key: Key) -> Row {
    guard let row = shape[key] else { preconditionFailure("\(path) has no key \(key.rawValue)") }
    return row
  }

  /// The first of some keys that the section has.
  func first(of keys: [Key]) -> Key? { keys.first { members[$0] != nil } }

  func path(_ key: Key) -> String { path.isEmpty ? key.rawValue : "\(path).\(key.rawValue)" }
}

/// Collects settings and issues while it walks the tree.
struct SettingsDecoder {
  let file: String
  let environment: [String: String]
  let files: FileAccess
  var issues: [ConfigurationIssue]
  /// Allowed settings that are probably a mistake.
  var warnings: [ConfigurationIssue] = []
  var allowsReadableSecrets = false
  // What later sections depend on.
  var defaults = UpstreamDefaults()
  var listeners: [ListenerSettings] = []
  var applications: [String: DecodedApplication] = [:]
  var routes: [RouteSettings] = []
  /// The sections of listeners for programs, by the listeners' positions.
  var programSections: [Int: Section] = [:]
  /// The outbound proxies of the environment, for sections that name none.
  var proxies = ProxyEnvironment([:]) { _, _ in }
  /// The values in the file, by the path of keys.
  var given: [String: ConfiguredValue] = [:]
  /// The defaults of absent keys.
  var standards: [ConfiguredValue] = []
  /// Every file that a setting named, whether it could be read or not.
  var filesRead: Set<String> = []

  mutating func report(_ place: Place, _ message: String, suggestion: String? = nil) {
    issues.append(ConfigurationIssue(place, message, suggestion: suggestion))
  }

  /// Reports a mistake in what a key has: `KEY: reason`.
  mutating func report(_ part: some Keyed, _ reason: String, suggestion: String? = nil) {
    report(part.place, "\(part.key): \(reason)", suggestion: suggestion)
  }

  /// Reports a mistake in what a key has: `KEY is …`.
  mutating func report(_ part: some Keyed, that predicate: String, suggestion: String? = nil) {
    report(part.place, "\(part.key) \(predicate)", suggestion: suggestion)
  }

  /// Reports a mistake in what a section has, or lacks, under a key.
  mutating func report(_ section: Section, _ key: Key, _ reason: String) {
    report(section[key]?.place ?? section.place, "\(section.path(key)): \(reason)")
  }

  /// The same for values that are nil then.
  mutating func refuse<Value>(_ place: Place, _ message: String, suggestion: String? = nil) -> Value? {
    report(place, message, suggestion: suggestion)
    return nil
  }

  mutating func refuse<Value>(_ part: some Keyed, _ reason: String, suggestion: String? = nil) -> Value? {
    report(part, reason, suggestion: suggestion)
    return nil
  }

  mutating func refuse<Value>(_ part: some Keyed, that predicate: String, suggestion: String? = nil) -> Value? {
    report(part, that: predicate, suggestion: suggestion)
    return nil
  }

  /// Keeps a value for `/config`.
  mutating func note(_ value: ConfiguredValue) { given[value.key] = value }

  /// The file's settings; `nil` only together with issues.
  mutating func settings(_ root: YAMLNode) -> Settings? {
    guard let file = section(root, shape: .file) else { return nil }
    var unusable: [(name: String, reason: String)] = []
    proxies = ProxyEnvironment(environment) { unusable.append(($0, $1)) }
    for variable in unusable { report(root.place, "the environment's \(variable.name) \(variable.reason)") }
    allowsReadableSecrets = boolean(file, .allowReadableSecrets)
    reportWriters(of: self.file, .whole(self.file), nil)
    if let section = section(file, .defaults) { defaults = upstreamSettings(section) }
    decodeListeners(file)
    decodeApplications(file)
    decodeRoutes(file)
    decodePrograms()
    let admin = self.admin(file)
    reportLoops()
    reportCallersWithoutToken()
    let loops = integer(file, .loops)
    let log = log(file)
    let cache = cache(file)
    var limits = limits(file)
    let shutdown = shutdown(file, &limits)
    return Settings(
      listeners: listeners, loops: loops, admin: admin, log: log, cache: cache.settings, cacheKeys: cache.keys,
      limits: limits, shutdown: shutdown, allowsReadableSecrets: allowsReadableSecrets,
      readyWhen: chosen(file, .readyWhen, of: ReadinessRule.self), timeouts: defaults.timeouts,
      applications: RedirectURIRule.applied(
        to: applications.values.sorted { $0.order < $1.order }.compactMap(\.settings), routes: routes), routes: routes,
      given: given.values.sorted { $0.place < $1.place }, standards: standards, found: warnings)
  }

  /// A mapping with known keys. Every other key is reported, and each that is missing.
  mutating func section(_ node: YAMLNode, shape: SectionShape) -> Section? {
    let path = node.key
    guard case .mapping(let written) = node.content else {
      let name = path.isEmpty ? "the configuration" : path
      let form = shape.rows.prefix(3).map { "\($0.key.rawValue): …" }.joined(separator: ", ")
      return refuse(node.place, "\(name) takes keys of its own (\(form))")
    }
    var members: [Key: YAMLNode.Member] = [:]
    for member in written {
      if let key = Key(rawValue: member.key), shape[key] != nil {
        members[key] = member
      } else {
        let known = shape.rows.map(\.key.rawValue)
        let location = path.isEmpty ? "" : " in \(path)"
        report(
          member.place, "unknown key '\(member.key)'\(location)", suggestion: nearestWord(to: member.key, among: known))
      }
    }
    let section = Section(path: path, place: node.place, shape: shape, members: members)
    noteStandards(of: shape, at: path, besides: Set(members.keys))
    reportRules(brokenIn: section)
    return section
  }

  /// Reports keys that are missing, or do not go together.
  private mutating func reportRules(brokenIn section: Section) {
    for row in section.shape.rows {
      if let member = section.members[row.key] {
        for rival in row.rivals { reportSecond(of: [row.key, rival], in: section) }
        if let companion = row.companion, section.members[companion] == nil {
          report(
            member.place,
            "\(section.path(row.key)) is about '\(companion.rawValue)', which \(section.path) does not have")
        }
      } else if row.isRequired, row.key != .token {
        // The message about a route's `token` has its forms.
        reportMissing(row.key, in: section)
      }
    }
    for rule in section.shape.rules {
      switch rule {
      case .one: reportChoice(of: section.shape.rows.map(\.key), in: section)
      case .oneOf(let keys): reportChoice(of: keys, in: section)
      case .some where section.members.isEmpty: reportMissing(section.shape.rows.map(\.key), in: section)
      case .together(let keys) where section.first(of: keys) != nil:
        for key in keys { reportMissing(key, in: section) }
      case .some, .together, .schema: break
      }
    }
  }

  /// Reports a section that has none of some keys, or several of them.
  private mutating func reportChoice(of keys: [Key], in section: Section) {
    if section.first(of: keys) == nil { reportMissing(keys, in: section) }
    reportSecond(of: keys, in: section)
  }

  /// Keeps the defaults of the keys that a section leaves out.
  private mutating func noteStandards(of shape: SectionShape, at path: String, besides members: Set<Key>) {
    for row in shape.rows where !members.contains(row.key) {
      if let companion = row.companion, !members.contains(companion) { continue }
      if row.value != "false", !members.isDisjoint(with: row.rivals) { continue }
      let key = path.isEmpty ? row.key.rawValue : "\(path).\(row.key.rawValue)"
      switch row.standard {
      case .value(let text), .words(let text): standards.append(ConfiguredValue(key, text, .standard))
      case .inherited:
        // Of routes[0].timeouts.idle, that is defaults.timeouts.idle.
        let source = "defaults\(key.drop { $0 != "." })"
        let value = (given[source] ?? standards.first { $0.key == source })?.value
        if let value { standards.append(ConfiguredValue(key, value, .inherited(source))) }
      case .section: if let inner = row.kind.inner { noteStandards(of: inner.shape, at: key, besides: []) }
      case nil: break
      }
    }
  }

  /// The section under a key; `nil` when the key is absent, or is not a section.
  mutating func section(_ parent: Section, _ key: Key) -> Section? {
    guard let node = parent[key], let inner = parent.row(key).kind.inner else { return nil }
    return section(node, shape: inner.shape)
  }

  /// A member of the section under a key. Mistakes in that are reported when it is decoded.
  func member(_ parent: Section, _ key: Key, _ inner: Key) -> YAMLNode.Member? {
    guard case .mapping(let members)? = parent[key]?.content else { return nil }
    return members.first { $0.key == inner.rawValue }
  }

  /// The sections of the list under a key; `consequence` is that of an empty one.
  mutating func sections(_ parent: Section, _ key: Key, orElse consequence: String) -> [Section] {
    guard let node = parent[key], case .sections(let shape) = parent.row(key).kind else { return [] }
    guard case .sequence(let elements) = node.content else {
      report(node, that: "takes a list, each element beginning with '-'")
      return []
    }
    if elements.isEmpty { report(node, that: "is empty: \(consequence)") }
    return elements.compactMap { section($0, shape: shape) }
  }

  /// The sections under names that the operator chose.
  mutating func namedSections(_ parent: Section, _ key: Key) -> [(name: String, section: Section?)] {
    guard let node = parent[key], case .namedSections(let shape) = parent.row(key).kind else { return [] }
    guard case .mapping(let members) = node.content else {
      report(node, that: "takes a name and, below it, keys")
      return []
    }
    return members.filter { checkName($0.key, place: $0.place, key: node.key) }.map { member in
      (member.key, section(member.value, shape: shape))
    }
  }

  /// Reports the second of keys that exclude one another, once. A key with `false` excludes none.
  private mutating func reportSecond(of keys: [Key], in section: Section) {
    let given = keys.compactMap { section.members[$0] }.filter { !isFalse($0.value) }.sorted { $0.place < $1.place }
    guard given.count > 1 else { return }
    reportOnce(given[1].place, "\(section.path) has both '\(given[0].key)' and '\(given[1].key)'; keep one")
  }

  private func isFalse(_ node: YAMLNode) -> Bool {
    guard case .scalar(let written) = node.content else { return false }
    return (try? substitutingEnvironment(in: written, environment: environment))?.text == "false"
  }

  /// Reports a key that must be there, once.
  mutating func reportMissing(_ key: Key, in section: Section) { reportMissing([key], in: section) }

  /// Reports keys of which one must be there, once.
  private mutating func reportMissing(_ keys: [Key], in section: Section) {
    // A key that is there without a usable value was reported already.
    guard section.first(of: keys) == nil else { return }
    let name = section.path.isEmpty ? "the configuration" : section.path
    let words = keys.map { "'\($0.rawValue)'" }
    let choice = [words.dropLast().joined(separator: ", "), words.last ?? ""].filter { !$0.isEmpty }
    reportOnce(section.place, "\(name) needs \(choice.joined(separator: " or "))")
  }

  private mutating func reportOnce(_ place: Place, _ message: String) {
    let issue = ConfigurationIssue(place, message)
    if !issues.contains(issue) { issues.append(issue) }
  }
}
