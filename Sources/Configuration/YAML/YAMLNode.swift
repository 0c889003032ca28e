// The tree a configuration file is read into: scalars, lists and mappings, each with its place. Anchors, aliases, tags
// and merge keys are refused, so that no small file becomes a large tree. It knows no setting.

/// A node of the configuration file.
struct YAMLNode {
  /// One key of a mapping with its value.
  struct Member {
    var key: String
    var place: Place
    var value: YAMLNode
  }

  enum Content {
    /// Text as written; quotes and escapes are resolved, types are not.
    case scalar(String)
    /// A plain `~`, `null` or nothing at all.
    case empty
    case sequence([YAMLNode])
    case mapping([Member])
  }

  var content: Content
  var place: Place
  /// The path of keys that leads here, such as `routes[0].name`; empty for the root.
  var key: String

  /// The largest depth of nested lists and mappings. The deepest setting needs six.
  static let depthLimit = 32
  /// Bytes of the largest file that is read.
  static let sizeLimit = 1 << 20

  /// Reads one document and collects what is wrong with it. `nil` when there is no tree to go on with.
  static func read(_ bytes: [UInt8], file: String, issues: inout [ConfigurationIssue]) -> YAMLNode? {
    let start = Place(file: file, line: 1, column: 1)
    guard bytes.count <= sizeLimit else {
      issues.append(ConfigurationIssue(start, "the file is larger than 1 MiB"))
      return nil
    }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
      issues.append(ConfigurationIssue(start, "the file is UTF-16: save it as UTF-8"))
      return nil
    }
    return bytes.withUnsafeBufferPointer { input -> YAMLNode? in
      // A file may begin with a byte order mark (YAML 1.2.2 §5.2); libyaml counts it as a column.
      let text = UnsafeBufferPointer(rebasing: input.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0))
      var builder = YAMLTreeBuilder(reader: YAMLEventReader(text, file: file))
      defer { issues += builder.issues }
      do throws(ConfigurationIssue) {
        let root = try builder.document(start: start)
        // Every other mistake may follow from such a character.
        if builder.lookAlikes.isEmpty { return root }
        builder.issues = builder.lookAlikes
        return nil
      } catch {
        builder.issues.append(error)
        return nil
      }
    }
  }
}

/// Turns events into nodes.
private struct YAMLTreeBuilder {
  let reader: YAMLEventReader
  var issues: [ConfigurationIssue] = []
  /// Characters that look like others.
  var lookAlikes: [ConfigurationIssue] = []

  /// Text for people to read, which may have any character.
  private static let freeText: Set = ["display_name"]

  mutating func document(start: Place) throws(ConfigurationIssue) -> YAMLNode? {
    var root: YAMLNode?
    while true {
      let event = try reader.next()
      switch event.kind {
      case .streamStart, .documentEnd: continue
      case .documentStart:
        if root != nil {
          throw ConfigurationIssue(event.place, "a second YAML document begins here; the configuration is one document")
        }
      case .streamEnd:
        if root == nil { issues.append(ConfigurationIssue(start, "the file is empty")) }
        return root
      default: root = try node(event, key: "", depth: 1)
      }
    }
  }

  private mutating func node(
    _ event: YAMLEvent, key: String, depth: Int, isFreeText: Bool = false
  ) throws(ConfigurationIssue) -> YAMLNode {
    if depth > YAMLNode.depthLimit {
      throw ConfigurationIssue(event.place, "nested deeper than \(YAMLNode.depthLimit) levels")
    }
    if event.anchor != nil || event.tag != nil {
      let what = event.anchor.map { "anchor '&\($0)'" } ?? event.tag.map { "tag '\($0)'" } ?? ""
      issues.append(ConfigurationIssue(event.place, "\(what): anchors, aliases and tags are not supported here"))
    }
    switch event.kind {
    case .scalar(let text, let isPlain):
      // The first few are enough: text from such a source is full of them.
      if !isFreeText, lookAlikes.count < 10, let issue = reader.lookAlike(in: event.range) { lookAlikes.append(issue) }
      let isEmpty = isPlain && (text.isEmpty || text == "~" || text == "null")
      return YAMLNode(content: isEmpty ? .empty : .scalar(text), place: event.place, key: key)
    case .sequenceStart:
      return YAMLNode(content: .sequence(try elements(of: key, depth: depth)), place: event.place, key: key)
    case .mappingStart:
      return YAMLNode(content: .mapping(try members(of: key, depth: depth)), place: event.place, key: key)
    case .alias(let name):
      throw ConfigurationIssue(event.place, "alias '*\(name)': anchors, aliases and tags are not supported here")
    default: preconditionFailure("libyaml opens a node with a scalar, a sequence, a mapping or an alias")
    }
  }

  private mutating func elements(of list: String, depth: Int) throws(ConfigurationIssue) -> [YAMLNode] {
    var elements: [YAMLNode] = []
    while true {
      let event = try reader.next()
      if event.kind == .sequenceEnd { return elements }
      elements.append(try node(event, key: "\(list)[\(elements.count)]", depth: depth + 1))
    }
  }

  private mutating func members(of section: String, depth: Int) throws(ConfigurationIssue) -> [YAMLNode.Member] {
    var members: [YAMLNode.Member] = []
    var places: [String: Place] = [:]
    while true {
      let event = try reader.next()
      if event.kind == .mappingEnd { return members }
      let key = try node(event, key: section, depth: depth + 1)
      let name = if case .scalar(let name) = key.content { name } else { nil as String? }
      let isFreeText = name.map { Self.freeText.contains($0) } ?? false
      let path = section.isEmpty ? name : name.map { "\(section).\($0)" }
      let value = try node(try reader.next(), key: path ?? "", depth: depth + 1, isFreeText: isFreeText)
      guard let name else {
        let isTemplate = if case .mapping = key.content { true } else { false }
        issues.append(
          ConfigurationIssue(
            key.place,
            "a key must be a word" + (isTemplate ? "; '{{…}}' is a template's: fill it in, or write '${NAME}'" : "")))
        continue
      }
      if let first = places[name] {
        issues.append(ConfigurationIssue(key.place, "key '\(name)' is already on line \(first.line); keep one"))
        continue
      }
      places[name] = key.place
      members.append(YAMLNode.Member(key: name, place: key.place, value: value))
    }
  }
}
