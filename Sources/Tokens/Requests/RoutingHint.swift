internal import HTTP

/// The account of a request, by which Microsoft Entra's gateway routes (MSAL's `X-AnchorMailbox`).
package struct RoutingHint: Sendable, Hashable {
  /// The parameter of an authorization endpoint. The field of a token request has the same name.
  static let parameter = "X-AnchorMailbox"
  package let text: String

  /// An account by its object and tenant; nil unless both are ids.
  package init?(object: String?, tenant: String?) {
    guard let object, let tenant, object.isGUID, tenant.isGUID else { return nil }
    text = "Oid:\(object)@\(tenant)"
  }

  /// An account by its home account id, `object.tenant`.
  package init?(homeAccountID: String?) {
    let parts = homeAccountID?.split(separator: ".").map(String.init) ?? []
    guard parts.count == 2 else { return nil }
    self.init(object: parts[0], tenant: parts[1])
  }

  /// An account by its user name; nil unless that can be a field's value.
  package init?(username: String) {
    guard (1...256).contains(username.utf8.count), username.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return nil
    }
    text = "UPN:\(username)"
  }
}

extension HTTPURL {
  /// True if requests to this address may name the account.
  var takesRoutingHints: Bool {
    scheme == .https && (EntraCloud(host: host) ?? EntraCloud(regionalHost: host)) != nil
  }
}
