// Under which tenant the unified cache files a provider's tokens, if the authority alone tells.

extension Authority {
  /// The tenant that tokens are filed under, where that can be said without the provider's metadata: not for a domain
  /// name, which the metadata turns into the tenant's id.
  package var knownRealm: String? {
    switch kind {
    case .entra(.common, _): "common"
    case .entra(.organizations, _): "organizations"
    case .entra(.consumers, _): "consumers"
    case .entra(.specific(let tenant), _): tenant.isGUID ? tenant : nil
    case .adfs: "adfs"
    case .b2c, .ciam, .issuer: nil
    }
  }
}

extension String {
  /// Whether this is a GUID in its usual form, in either letter case.
  var isGUID: Bool {
    let parts = split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
      && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
  }
}
