import Bytes

/// The place of a client secret in a token request (RFC 6749 §2.3.1), by its registered name.
package enum ClientSecretPlacement: String, Sendable, Hashable, CaseIterable {
  /// The `Authorization` field.
  case basic = "client_secret_basic"
  /// A form member, as in every MSAL.
  case body = "client_secret_post"

  /// The placements that a provider offers, the preferred one first; never empty.
  ///
  /// | provider | `token_endpoint_auth_methods_supported` | placements |
  /// |---|---|---|
  /// | Microsoft's | any | body |
  /// | any other | lists one of the two | that one |
  /// | any other | lists both, neither, or is absent | Basic, body |
  ///
  /// Basic is what OpenID Connect Discovery 1.0 §3 and Registration 1.0 §2 make the default, and what RFC 6749 §2.3.1
  /// recommends.
  static func offered(supported: JSONValue?, authority: Authority) -> [ClientSecretPlacement] {
    guard authority.kind == .issuer else { return [.body] }
    guard case .array(let methods) = supported else { return [.basic, .body] }
    let listed = [basic, body].filter { methods.contains(.string($0.rawValue)) }
    return listed.isEmpty ? [.basic, .body] : listed
  }

  /// The placements to try, in order: an operator's alone, otherwise that which the provider accepted last first.
  package static func order(
    configured: ClientSecretPlacement?, accepted: ClientSecretPlacement?, offered: [ClientSecretPlacement]
  ) -> [ClientSecretPlacement] {
    if let configured { return [configured] }
    guard let accepted, let index = offered.firstIndex(of: accepted) else { return offered }
    var order = offered
    order.swapAt(0, index)
    return order
  }
}
