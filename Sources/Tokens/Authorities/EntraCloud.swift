/// A cloud of Microsoft Entra, known by host names that serve the same tokens (MSAL's built-in metadata).
package enum EntraCloud: String, Sendable, Hashable, CaseIterable {
  case global
  case china
  case usGovernment
  case usLegacy
  case germanyLegacy
  case sovereignFrance
  case sovereignGermany
  case sovereignSingapore
  case preproduction

  /// The group's host names, the one for requests first.
  package var hosts: [String] {
    switch self {
    case .global: ["login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net"]
    case .china: ["login.partner.microsoftonline.cn", "login.chinacloudapi.cn"]
    case .usGovernment: ["login.microsoftonline.us", "login.usgovcloudapi.net"]
    case .usLegacy: ["login-us.microsoftonline.com"]
    case .germanyLegacy: ["login.microsoftonline.de"]
    case .sovereignFrance: ["login.sovcloud-identity.fr"]
    case .sovereignGermany: ["login.sovcloud-identity.de"]
    case .sovereignSingapore: ["login.sovcloud-identity.sg"]
    case .preproduction: ["login.windows-ppe.net", "sts.windows-ppe.net", "login.microsoft-ppe.com"]
    }
  }

  /// The cloud that a host name in lower case belongs to; nil for a host that is not Microsoft's.
  package init?(host: String) {
    guard let cloud = Self.byHost[host] else { return nil }
    self = cloud
  }

  private static let byHost = Dictionary(
    uniqueKeysWithValues: allCases.flatMap { cloud in cloud.hosts.map { ($0, cloud) } })
}

extension EntraCloud {
  /// True if two hosts in lower case are equal or of one cloud.
  static func areAliases(_ left: String, _ right: String) -> Bool {
    if left == right { return true }
    guard let cloud = EntraCloud(host: left) else { return false }
    return cloud == EntraCloud(host: right)
  }
}

/// The accounts that an Entra authority serves.
package enum EntraTenant: Sendable, Hashable {
  /// Work, school and personal accounts.
  case common
  /// Work and school accounts of every tenant.
  case organizations
  /// Personal accounts.
  case consumers
  /// One tenant: its GUID or a verified domain, in lower case.
  case specific(String)

  /// The tenant that a path segment names; nil if it has a character that no GUID and no domain name has.
  package init?(_ segment: String) {
    switch segment.lowercased() {
    case "common": self = .common
    case "organizations": self = .organizations
    case "consumers": self = .consumers
    case let name:
      guard name.isPlainName, !name.contains("_"), !name.isEmpty else { return nil }
      self = .specific(name)
    }
  }

  /// True if an application can get a token for itself here (MSAL warns, this refuses).
  package var servesApplications: Bool {
    if case .specific = self { true } else { false }
  }
}

/// Azure CLI, as its provider knows it.
package enum AzureCLI {
  package static let clientID = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
  /// The family whose members may redeem one another's refresh tokens; there is no other (`foci`).
  package static let family = "1"
}
