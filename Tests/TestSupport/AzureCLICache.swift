// The cache document of Azure CLI: what msal-python writes for the CLI's client id, a family client, signed in at
// `organizations`.

import Bytes

/// A document as the CLI leaves it in `~/.azure/msal_token_cache.json` after `az login`.
package struct AzureCLICache: Sendable {
  package static let client = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
  package static let home = "aaaaaaaa-0001-4001-8001-aaaaaaaaaaaa.\(tenant)"
  package static let tenant = "11111111-aaaa-4aaa-8aaa-111111111111"
  /// The access token, for Azure's management API.
  package static let accessToken = "AT-azcli"
  package static let refreshToken = "FRT-1"
  package static let scope = "https://management.core.windows.net//.default"
  package let text: String

  /// A document written at `now`, seconds since 1970, with an access token for another hour.
  package init(now: Int) {
    let target = "\(Self.scope) offline_access openid profile"
    let (host, prefix) = ("login.microsoftonline.com", "\(Self.home)-login.microsoftonline.com")
    let claims = Base64URL.encode(
      Array(#"{"iss":"https://\#(host)/\#(Self.tenant)/v2.0","sub":"pairwise-sub-1","aud":"\#(Self.client)"}"#.utf8))
    let common = #""environment":"\#(host)","home_account_id":"\#(Self.home)""#
    let entry = "\(common),\"client_id\":\"\(Self.client)\""
    text = #"""
      {"AccessToken":{"\#(prefix)-accesstoken-\#(Self.client)-organizations-\#(target)":{\#(entry),
      "credential_type":"AccessToken","secret":"\#(Self.accessToken)","target":"\#(target)","realm":"organizations",
      "token_type":"Bearer",
      "cached_at":"\#(now)","expires_on":"\#(now + 3600)","extended_expires_on":"\#(now + 3600)"}},
      "Account":{"\#(prefix)-organizations":{\#(common),"realm":"organizations",
      "local_account_id":"aaaaaaaa-0001-4001-8001-aaaaaaaaaaaa","username":"User.A@contoso.example",
      "authority_type":"MSSTS","account_source":"authorization_code"}},
      "IdToken":{"\#(prefix)-idtoken-\#(Self.client)-organizations-":{\#(entry),"credential_type":"IdToken",
      "secret":"e30.\#(claims).c2ln","realm":"organizations"}},
      "RefreshToken":{"\#(prefix)-refreshtoken-\#(Self.client)--\#(target)":{\#(entry),
      "credential_type":"RefreshToken","secret":"\#(Self.refreshToken)","target":"\#(target)",
      "last_modification_time":"\#(now)","family_id":"1"}},
      "AppMetadata":{"appmetadata-\#(host)-\#(Self.client)":{"client_id":"\#(Self.client)","environment":"\#(host)",
      "family_id":"1"}}}
      """#
  }
}
