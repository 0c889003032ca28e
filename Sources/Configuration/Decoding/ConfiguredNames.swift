// The names in a configuration for shells to complete, also if it has mistakes or its variables are not set.

import Bytes

/// A kind of name that `names` lists.
package enum NameList: String, Sendable, CaseIterable {
  case routes, applications
}

extension NameList {
  /// The names in a configuration's text, in its order. Only those that a route or application may have: a shell
  /// expands what it is given.
  package func names(yaml: [UInt8], file: String) -> [String] {
    var issues: [ConfigurationIssue] = []
    guard case .mapping(let sections)? = YAMLNode.read(yaml, file: file, issues: &issues)?.content,
      let section = sections.first(where: { $0.key == rawValue })?.value
    else { return [] }
    let names =
      switch section.content {
      case .mapping(let members) where self == .applications: members.map(\.key)
      case .sequence(let elements) where self == .routes: elements.compactMap(Self.name)
      default: [] as [String]
      }
    return names.filter(isSectionName)
  }

  private static func name(of route: YAMLNode) -> String? {
    guard case .mapping(let members) = route.content,
      case .scalar(let name)? = members.first(where: { $0.key == Key.name.rawValue })?.value.content
    else { return nil }
    return name
  }
}

/// True if a text can be the name of a route or application: names appear in logs, metrics, URLs and shells.
func isSectionName(_ name: String) -> Bool {
  // '.' and '..' are no segments of a path.
  isPlain(name, allowing: "-._") && (1...64).contains(name.utf8.count) && name != "." && name != ".."
}

/// True if a text has only ASCII letters, digits and some other characters.
func isPlain(_ text: String, allowing others: String) -> Bool {
  text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || others.utf8.contains($0) }
}
