// Owns which redirect URI the sign-ins of an application use: the one that all applications share, or one of its own.

/// Where the sign-ins of an application come back to.
package enum CallbackPath: Sendable, Hashable {
  /// The place that all applications share.
  case shared
  /// A place of the application's own, by its name. An identity provider that sends a browser on to another one, in the
  /// name of another application, cannot have the answer brought here (RFC 9700 §4.4.2, "mix-up").
  case own(application: String)

  /// The shared path on listeners with sign-in pages; the applications' own paths are below it.
  package static let root = "/.bearer/callback"

  /// The path on listeners with sign-in pages.
  package var path: String {
    switch self {
    case .shared: Self.root
    case .own(let name): "\(Self.root)/\(name)"
    }
  }
}
