// Single values: text with references to the environment, numbers, units, choices, files, secrets.
// Messages repeat a value as it is written in the file, never what a variable or a secret file holds.

import Bytes
import Tokens

struct Scalar: Keyed {
  /// The value, variables replaced.
  let text: String
  /// The text in the file.
  let written: String
  /// The variables in it.
  var variables: [String] = []
  let place: Place
  let key: String
}

extension SettingsDecoder {
  /// The scalar under a key; `nil` when the key is absent or its value has been reported.
  mutating func scalar(_ section: Section, _ key: Key) -> Scalar? {
    section[key].flatMap { scalar($0) }
  }

  /// The scalar under a key that must be there.
  mutating func requiredScalar(_ section: Section, _ key: Key) -> Scalar? {
    let scalar = self.scalar(section, key)
    if scalar == nil { reportMissing(key, in: section) }
    return scalar
  }

  mutating func scalar(_ node: YAMLNode) -> Scalar? {
    let path = node.key
    switch node.content {
    case .scalar(let written):
      do throws(UnusableText) {
        let (text, variables) = try substitutingEnvironment(in: written, environment: environment)
        if text != written, !path.hasSuffix(".\(Key.displayName.rawValue)"), let found = LookAlike.first(in: text) {
          // Not the value: it may be a secret's.
          return refuse(node, "what its variable holds contains \(found.words): set the variable again")
        }
        if !text.isEmpty {
          let source = ValueSource.file(node.place, variables: variables)
          note(ConfiguredValue(path, ConfiguredValue.withoutUserInformation(text), source))
          return Scalar(text: text, written: written, variables: variables, place: node.place, key: path)
        }
        report(node, that: "is empty")
      } catch {
        report(node, that: error.reason)
      }
    case .empty: report(node, that: "has no value")
    case .sequence, .mapping: report(node, that: "takes one value")
    }
    return nil
  }

  /// The scalars of the list under a key; `nil` when the key is absent.
  mutating func list(_ section: Section, _ key: Key) -> [Scalar]? {
    guard let node = section[key] else { return nil }
    if case .scalar(let written) = node.content {
      let words = written.split { $0 == " " || $0 == "," }.joined(separator: ", ")
      report(node, that: "takes a list: write [\(words)]")
      return []
    }
    guard case .sequence(let elements) = node.content, !elements.isEmpty else {
      report(node, that: "takes a list of at least one value: [a, b]")
      return []
    }
    var seen: Set<String> = []
    return elements.compactMap { element in
      guard let scalar = scalar(element) else { return nil }
      if !seen.insert(scalar.text).inserted { report(scalar, that: "repeats '\(scalar.written)'") }
      return scalar
    }
  }

  /// The scalars under names that the operator chooses; empty when the key is absent.
  mutating func values(_ section: Section, _ key: Key) -> [String: Scalar] {
    guard let node = section[key] else { return [:] }
    guard case .mapping(let members) = node.content, !members.isEmpty else {
      report(node, that: "takes names with a value each: {name: value}")
      return [:]
    }
    var values: [String: Scalar] = [:]
    for member in members { values[member.key] = scalar(member.value) }
    return values
  }

  /// The value, else the default.
  mutating func boolean(_ section: Section, _ key: Key) -> Bool {
    let standard = section.row(key).value == "true"
    guard let scalar = scalar(section, key) else { return standard }
    switch scalar.text {
    case "true": return true
    case "false": return false
    default:
      report(scalar, that: "is true or false, not '\(scalar.written)'")
      return standard
    }
  }

  mutating func integer(_ section: Section, _ key: Key) -> Int? {
    guard let scalar = scalar(section, key), case .integer(let range) = section.row(key).kind else { return nil }
    if let value = Int(scalar.text), range.contains(value) { return value }
    return refuse(
      scalar, that: "is a whole number from \(range.lowerBound) to \(range.upperBound), not '\(scalar.written)'")
  }

  mutating func duration(_ section: Section, _ key: Key) -> TimeSpan? {
    durationOrNone(section, key) ?? nil
  }

  /// A duration, or `none` as `.some(nil)`.
  mutating func durationOrNone(_ section: Section, _ key: Key) -> TimeSpan?? {
    guard let scalar = scalar(section, key) else { return nil }
    guard case .duration(let range, let orNone) = section.row(key).kind else { return nil }
    if orNone, scalar.text == "none" { return .some(nil) }
    guard let duration = parsedDuration(scalar.text), duration > .zero else {
      return refuse(scalar, that: "is a duration such as 500ms, 30s, 5m or 1h, not '\(scalar.written)'")
    }
    if range.contains(duration) { return duration }
    let (lower, upper) = (durationText(range.lowerBound), durationText(range.upperBound))
    let isOpen = range.lowerBound == Kind.shortestDuration
    return refuse(
      scalar.place, isOpen ? "\(scalar.key) is at most \(upper)" : "\(scalar.key) is between \(lower) and \(upper)")
  }

  mutating func size(_ section: Section, _ key: Key) -> Int? { sizeOrNone(section, key) ?? nil }

  /// A size, or `none` as `.some(nil)`.
  mutating func sizeOrNone(_ section: Section, _ key: Key) -> Int?? {
    guard let scalar = scalar(section, key) else { return nil }
    guard case .size(let range, let orNone) = section.row(key).kind else { return nil }
    if orNone, scalar.text == "none" { return .some(nil) }
    guard let size = parsedSize(scalar.text) else {
      return refuse(scalar, that: "is a size such as 512B, 64KiB or 1MiB, not '\(scalar.written)'")
    }
    if range.contains(size) { return size }
    return refuse(
      scalar, that: "is from \(sizeText(range.lowerBound)) to \(sizeText(range.upperBound)), not '\(scalar.written)'")
  }

  /// One of an enumeration's words, else the default.
  mutating func chosen<Choice: RawRepresentable<String> & CaseIterable>(
    _ section: Section, _ key: Key, of: Choice.Type
  ) -> Choice {
    if let choice = choice(section, key, of: Choice.self) { return choice }
    guard let standard = section.row(key).value.flatMap({ Choice(rawValue: $0) }) else {
      preconditionFailure("\(section.path(key)) has no default")
    }
    return standard
  }

  /// One of an enumeration's words.
  mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ section: Section, _ key: Key, of: Choice.Type
  ) -> Choice? {
    scalar(section, key).flatMap { word($0.text, $0, of: Choice.allCases.map(\.rawValue)).flatMap(Choice.init) }
  }

  /// Some of the words of the key's row, whatever their case.
  mutating func choices(_ section: Section, _ key: Key) -> [String] {
    let words = section.row(key).words
    return (list(section, key) ?? []).compactMap { word($0.text.lowercased(), $0, of: words) }
  }

  private mutating func word(_ text: String, _ scalar: Scalar, of words: [String]) -> String? {
    if words.contains(text) { return text }
    return refuse(
      scalar, that: "is one of \(words.joined(separator: ", ")), not '\(scalar.written)'",
      suggestion: nearestWord(to: scalar.written, among: words))
  }

  /// The path of a file that can be read now, made absolute or relative to the working directory.
  mutating func readableFile(_ section: Section, _ key: Key) -> Located<String>? {
    guard let scalar = scalar(section, key) else { return nil }
    let path = resolved(scalar.text)
    given[scalar.key]?.value = path
    guard let (_, bytes) = contents(of: scalar, limit: 4 << 20) else { return nil }
    // A combined file has the key beside the certificate, also if the key is read from another file.
    if bytes.firstRange(of: Array("PRIVATE KEY-----".utf8)) != nil { reportExposure(of: scalar.located(path)) }
    reportWriters(of: path, scalar.place, scalar.key)
    return scalar.located(path)
  }

  /// The path of a file that need not be there yet.
  mutating func path(_ section: Section, _ key: Key) -> Located<String>? {
    guard let scalar = scalar(section, key) else { return nil }
    if scalar.text.hasSuffix("/") { return refuse(scalar, that: "names a file, not a directory: '\(scalar.written)'") }
    let path = resolved(scalar.text)
    given[scalar.key]?.value = path
    return scalar.located(path)
  }

  /// A secret, given in place or in a file. The text's trailing line ends are not part of it.
  mutating func secret(_ section: Section, _ key: Key, file fileKey: Key) -> Secret? {
    if let scalar = scalar(section, key) {
      given[scalar.key]?.value = ConfiguredValue.hidden
      // If a variable has a part in it, the file alone does not tell the secret.
      if scalar.variables.isEmpty { reportExposedText(scalar, insteadOf: fileKey) }
      return secret(Array(scalar.text.utf8), scalar, scalar.key)
    }
    guard let scalar = scalar(section, fileKey), let (path, bytes) = contents(of: scalar, limit: 64 << 10) else {
      return nil
    }
    reportAccess(to: scalar.located(path))
    return secret(bytes, scalar, "\(scalar.key): \(path)")
  }

  /// - Parameter name: what the text is called in a message.
  private mutating func secret(_ bytes: [UInt8], _ scalar: Scalar, _ name: String) -> Secret? {
    let text = SecretText(bytes[...])
    if bytes.isEmpty || text.bytes.isEmpty && name != scalar.key { return refuse(scalar.place, "\(name) is empty") }
    if let mistake = text.mistake { return refuse(scalar.place, "\(name) \(mistake)") }
    if let suspicion = text.suspicion {
      warnings.append(ConfigurationIssue(scalar.place, "\(name) \(suspicion)"))
    }
    return Secret(text.bytes)
  }

  /// Reports a file with a secret that every user of the machine can read, or others can change.
  mutating func reportAccess(to file: Located<String>) {
    reportExposure(of: file)
    reportWriters(of: file.value, file.place, file.key)
  }

  /// Reports a file with a secret that every user of the machine can read.
  mutating func reportExposure(of file: Located<String>) {
    guard !allowsReadableSecrets, let mode = files.findExposure(file.value) else { return }
    let issue = file.exposed(mode: mode)
    if !issues.contains(issue) { issues.append(issue) }
  }

  /// Reports a file that another user of the machine can replace or change: an error if every user can, unless they are
  /// trusted.
  mutating func reportWriters(of path: String, _ place: Place, _ key: String?) {
    guard let writers = files.findWriters(path) else { return }
    let issue = ConfigurationIssue(place, "\(key.map { "\($0): " } ?? "")\(path) \(writers.reason)")
    if writers.areEverybody && !allowsReadableSecrets { issues.append(issue) } else { warnings.append(issue) }
  }

  /// Reports a secret in a configuration that every user of the machine can read.
  private mutating func reportExposedText(_ scalar: Scalar, insteadOf fileKey: Key) {
    guard !allowsReadableSecrets, let mode = files.findExposure(file) else { return }
    report(
      scalar,
      "a secret is written in \(file), which every user of this machine can read (mode "
        + "0\(String(mode, radix: 8))); chmod o-r helps, or '\(fileKey.rawValue)' or a variable in its place, or "
        + "'allow_readable_secrets: true' if it has no other users")
  }

  mutating func contents(of scalar: Scalar, limit: Int) -> (path: String, bytes: [UInt8])? {
    let path = resolved(scalar.text)
    filesRead.insert(path)
    do throws(UnreadableFile) {
      return (path, try files.read(path, limit))
    } catch {
      return refuse(scalar, "cannot read \(path): \(error.reason)")
    }
  }

  /// Paths in the file are relative to the file, or to the home directory behind `~/`.
  private func resolved(_ path: String) -> String {
    if path.hasPrefix("~/"), let home = environment["HOME"], !home.isEmpty { return home + path.dropFirst() }
    guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
    return file[...slash] + path
  }
}
