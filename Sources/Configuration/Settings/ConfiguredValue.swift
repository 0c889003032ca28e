package enum ValueSource: Sendable, Hashable {
  /// The file says so, here; with the environment variables that its text refers to.
  case file(Place, variables: [String])
  /// An environment variable that replaces an option.
  case variable(String)
  /// An option of the command line.
  case option(String)
  /// `defaults`, or the program's own default.
  case inherited(String)
  /// The built-in default.
  case standard
}

extension ValueSource: CustomStringConvertible {
  /// `FILE:LINE:COLUMN`, `environment NAME`, `--option`, `default`.
  package var description: String {
    switch self {
    case .file(let place, let names): ([place.description] + names.map { "environment \($0)" }).joined(separator: ", ")
    case .variable(let name): "environment \(name)"
    case .option(let name): name
    case .inherited(let key): "default from \(key)"
    case .standard: "default"
    }
  }
}

/// A setting as it is in force.
package struct ConfiguredValue: Sendable, Hashable {
  /// The path of keys, such as `routes[0].timeouts.connect`.
  package let key: String
  /// The value as text of the file; `[secret]` for a secret.
  package internal(set) var value: String
  package internal(set) var source: ValueSource

  package init(_ key: String, _ value: String, _ source: ValueSource) {
    self.key = key
    self.value = value
    self.source = source
  }

  /// Its place in the file; the file's beginning if it is not there.
  var place: Place {
    if case .file(let place, _) = source { place } else { Place(file: "", line: 0, column: 0) }
  }

  /// The text that replaces a secret.
  static let hidden = "[secret]"

  /// The text of a URL with a user and a password, without those.
  static func withoutUserInformation(_ text: String) -> String {
    guard let scheme = text.firstRange(of: "://") else { return text }
    let rest = text[scheme.upperBound...]
    let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
    guard let at = rest[..<end].lastIndex(of: "@") else { return text }
    return "\(text[..<scheme.upperBound])\(hidden)\(rest[at...])"
  }
}
