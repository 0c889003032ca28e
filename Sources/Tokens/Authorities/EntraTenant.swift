// Owns the tenant segment of an Entra authority. Which grants need a specific tenant is said here too.

/// Whose accounts an Entra authority serves.
package enum EntraTenant: Sendable, Hashable {
  /// Work, school and personal accounts.
  case common
  /// Work and school accounts of every tenant.
  case organizations
  /// Personal accounts.
  case consumers
  /// One tenant: its GUID or a verified domain, in lower case.
  case specific(String)

  /// The tenant that a path segment names; nil where it has a character that no GUID and no domain name has.
  package init?(_ segment: String) {
    switch segment.lowercased() {
    case "common": self = .common
    case "organizations": self = .organizations
    case "consumers": self = .consumers
    case let name:
      let isName = name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
          UInt8(ascii: "."):
          true
        default: false
        }
      }
      guard isName, !name.isEmpty else { return nil }
      self = .specific(name)
    }
  }

  /// Whether an application can get a token for itself here: only a specific tenant knows it (MSAL's warning made a
  /// rule).
  package var servesApplications: Bool {
    if case .specific = self { true } else { false }
  }
}
