// Addresses of a provider that other products' settings contain, and that are no authority.

import HTTP
import Tokens

/// One of a provider's endpoints in the place of its authority.
struct CopiedEndpoint {
  /// Its kind, with an article.
  let what: String
  /// The authority that was probably meant; nil if it does not follow.
  let authority: String?

  /// Reads a URL; nil if it may be an authority.
  init?(_ text: String) {
    let path = text.prefix { $0 != "?" && $0 != "#" }
    guard let scheme = path.firstRange(of: "://"), let slash = path[scheme.upperBound...].firstIndex(of: "/"),
      // Another mistake, whose message does not repeat the password.
      !path[..<slash].contains("@")
    else { return nil }
    let tail = path[slash...]
    let trimmed = tail.hasSuffix("/") ? tail.dropLast() : tail
    let lowered = trimmed.lowercased()
    let isMicrosoft = EntraCloud(host: String(path[scheme.upperBound..<slash]).lowercased()) != nil
    guard let known = Self.known.first(where: { lowered.hasSuffix($0.path) && (isMicrosoft || !$0.isMicrosoftOnly) })
    else { return nil }
    what = known.what
    let rest = trimmed.dropLast(known.path.count)
    authority = known.hasIssuerBefore ? String(path[..<slash] + rest) : nil
  }

  private struct Known {
    let path: String
    let what: String
    /// At other providers the path may be an issuer's: WSO2's is `…/oauth2/token`.
    var isMicrosoftOnly = false
    /// True if the issuer is the part before the path.
    var hasIssuerBefore = true

    init(_ path: String, _ what: String, isMicrosoftOnly: Bool = false, hasIssuerBefore: Bool = true) {
      (self.path, self.what) = (path, what)
      (self.isMicrosoftOnly, self.hasIssuerBefore) = (isMicrosoftOnly, hasIssuerBefore)
    }
  }

  private static let token = "the token endpoint"
  private static let authorization = "the authorization endpoint"
  private static let device = "the device authorization endpoint"
  private static let keys = "the address of the provider's keys"
  private static let metadata = "the address of the provider's metadata"

  /// Longer paths before those that they end in.
  private static let known: [Known] = [
    // Microsoft Entra, B2C, External ID.
    Known("/v2.0/.well-known/openid-configuration", metadata, isMicrosoftOnly: true),
    Known("/.well-known/openid-configuration", metadata),
    Known("/.well-known/oauth-authorization-server", metadata),
    Known("/federationmetadata/2007-06/federationmetadata.xml", metadata),
    Known("/oauth2/v2.0/token", token), Known("/oauth2/v2.0/authorize", authorization),
    Known("/oauth2/v2.0/devicecode", device), Known("/oauth2/v2.0/logout", "the end-session endpoint"),
    Known("/discovery/v2.0/keys", keys), Known("/oauth2/token", token, isMicrosoftOnly: true),
    Known("/oauth2/authorize", authorization, isMicrosoftOnly: true),
    Known("/saml2", "the address for SAML", isMicrosoftOnly: true),
    // Keycloak.
    Known("/protocol/openid-connect/token", token), Known("/protocol/openid-connect/auth/device", device),
    Known("/protocol/openid-connect/auth", authorization), Known("/protocol/openid-connect/certs", keys),
    Known("/protocol/openid-connect/userinfo", "the userinfo endpoint"),
    // Okta, of the organization and of one of its authorization servers.
    Known("/oauth2/v1/token", token), Known("/oauth2/v1/authorize", authorization), Known("/oauth2/v1/keys", keys),
    Known("/v1/token", token), Known("/v1/authorize", authorization), Known("/v1/keys", keys),
    // Auth0; Duende and OpenIddict; Ping; authentik, whose issuers have a path of their own.
    Known("/oauth/token", token), Known("/connect/token", token), Known("/connect/authorize", authorization),
    Known("/as/token.oauth2", token), Known("/as/authorization.oauth2", authorization),
    Known("/application/o/token", token, hasIssuerBefore: false),
    Known("/application/o/authorize", authorization, hasIssuerBefore: false),
    Known("/.well-known/jwks.json", keys),
  ]
}
