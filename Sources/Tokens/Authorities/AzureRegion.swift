package import HTTP

/// A region of Azure, by its name in host names.
package struct AzureRegion: Sendable, Hashable {
  package let name: String

  /// The region of this name; nil for a text that is no label of a host name (MSAL's rule).
  package init?(_ name: String) {
    let bytes = Array(name.utf8)
    guard (1...63).contains(bytes.count), bytes[0].isLetter, bytes[bytes.count - 1] != UInt8(ascii: "-"),
      bytes.allSatisfy({ $0.isLetter || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") })
    else { return nil }
    self.name = name
  }
}

/// The region in which an application's own tokens are requested.
package enum AzureRegionChoice: Sendable, Hashable {
  case named(AzureRegion)
  /// The region of the machine, if it can be detected.
  case discovered

  /// The variable in which App Service and Functions name the machine's region.
  package static let variable = "REGION_NAME"

  /// The machine's, which the environment may name: `West US 2` is `westus2` (MSAL for .NET's rule).
  package static func automatic(environment: [String: String]) -> AzureRegionChoice {
    let name = environment[variable]?.filter { $0 != " " }.lowercased()
    return name.flatMap { AzureRegion($0) }.map { .named($0) } ?? .discovered
  }
}

extension HTTPURL {
  /// The same endpoint in a region (MSAL's rule); nil for a host that is none of Entra's central ones.
  package func regional(_ region: AzureRegion) -> HTTPURL? {
    guard let cloud = EntraCloud(host: host) else { return nil }
    var url = self
    url.host = "\(region.name).\(cloud == .global ? "login.microsoft.com" : host)"
    return url
  }
}

extension Authority {
  package var hasRegions: Bool { EntraCloud(host: url.host) != nil && url.scheme == .https }
}

extension UInt8 {
  fileprivate var isLetter: Bool { (0x61...0x7A).contains(self) }
}
