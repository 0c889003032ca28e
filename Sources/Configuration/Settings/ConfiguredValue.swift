// What is known of a value beside the value: where it came from, and whether it may be shown.

/// Where a setting's value came from.
package enum ValueSource: Sendable, Hashable {
  /// The file says so, here; with the environment variables that its text refers to.
  case file(Place, variables: [String])
  /// An environment variable that stands in for an option.
  case variable(String)
  /// An option of the command line.
  case option(String)
  /// What `defaults` says, or is there by default.
  case inherited(String)
  /// The built-in default.
  case standard
}

extension ValueSource: CustomStringConvertible {
  /// `FILE:LINE:COLUMN`, `environment NAME`, `--option`, `default`.
  package var description: String {
    switch self {
    case .file(let place, let names):
      ([place.description] + names.map { "environment \($0)" }).joined(separator: ", ")
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
  /// The value, as it could stand in the file; `[secret]` instead of one.
  package internal(set) var value: String
  /// Where it came from.
  package internal(set) var source: ValueSource

  package init(_ key: String, _ value: String, _ source: ValueSource) {
    self.key = key
    self.value = value
    self.source = source
  }

  /// Where the file gives it; its beginning where it does not.
  var place: Place {
    if case .file(let place, _) = source { place } else { Place(file: "", line: 0, column: 0) }
  }

  /// What is shown instead of a secret.
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
