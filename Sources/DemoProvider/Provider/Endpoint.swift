internal import Bytes

/// The endpoints of the identity provider by their paths: Entra's v2.0 paths, with the tenant in front.
enum Endpoint: String, CaseIterable {
  case root = "/"
  case discovery = "/{tenant}/v2.0/.well-known/openid-configuration"
  case keys = "/{tenant}/discovery/v2.0/keys"
  case authorize = "/{tenant}/oauth2/v2.0/authorize"
  /// The forms of a sign-in's pages.
  case interaction = "/{tenant}/oauth2/v2.0/interaction"
  case token = "/{tenant}/oauth2/v2.0/token"
  case deviceAuthorization = "/{tenant}/oauth2/v2.0/devicecode"
  case logout = "/{tenant}/oauth2/v2.0/logout"
  case device = "/device"

  // The provider's behaviour and memory, for demonstrations and tests.

  case requests = "/testing/requests"
  case behaviour = "/testing/behaviour"
  case revoke = "/testing/revoke"
  case criticalEvent = "/testing/critical-event"
  case withdraw = "/testing/withdraw"

  /// The endpoint at a path, and the path's segment for the tenant.
  static func find(_ path: String) throws(Refusal) -> (Endpoint, segment: String) {
    let segment = String(path.dropFirst().prefix { $0 != "/" })
    guard let found = allCases.first(where: { $0.path(segment) == path }), found == .root || !segment.isEmpty else {
      throw .unknownPath
    }
    return (found, segment)
  }

  func path(_ tenant: String = "") -> String { rawValue.replacing("{tenant}", with: tenant) }

  var hasTenant: Bool { rawValue.hasPrefix("/{tenant}") }

  /// True if its answers are pages.
  var isForPeople: Bool { [.root, .authorize, .interaction, .logout, .device].contains(self) }
}
