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
    let common: [String: JSONValue] = [
      "home_account_id": .string(Self.home), "environment": .string("login.microsoftonline.com"),
      "client_id": .string(Self.client),
    ]
    let prefix = "\(Self.home)-login.microsoftonline.com"
    let claims = Base64URL.encode(
      Array(
        #"{"iss":"https://login.microsoftonline.com/\#(Self.tenant)/v2.0","sub":"pairwise-sub-1","aud":"\#(Self.client)"}"#
          .utf8))
    func entry(_ members: [String: JSONValue]) -> JSONValue { .object(common.merging(members) { $1 }) }
    text = JSONValue.object([
      "AccessToken": .object([
        "\(prefix)-accesstoken-\(Self.client)-organizations-\(target)": entry([
          "credential_type": .string("AccessToken"), "secret": .string(Self.accessToken), "target": .string(target),
          "realm": .string("organizations"), "token_type": .string("Bearer"), "cached_at": .string("\(now)"),
          "expires_on": .string("\(now + 3600)"), "extended_expires_on": .string("\(now + 3600)"),
        ])
      ]),
      "Account": .object([
        "\(prefix)-organizations": .object([
          "home_account_id": .string(Self.home), "environment": .string("login.microsoftonline.com"),
          "realm": .string("organizations"), "local_account_id": .string("aaaaaaaa-0001-4001-8001-aaaaaaaaaaaa"),
          "username": .string("User.A@contoso.example"), "authority_type": .string("MSSTS"),
          "account_source": .string("authorization_code"),
        ])
      ]),
      "IdToken": .object([
        "\(prefix)-idtoken-\(Self.client)-organizations-": entry([
          "credential_type": .string("IdToken"), "secret": .string("e30.\(claims).c2ln"),
          "realm": .string("organizations"),
        ])
      ]),
      "RefreshToken": .object([
        "\(prefix)-refreshtoken-\(Self.client)--\(target)": entry([
          "credential_type": .string("RefreshToken"), "secret": .string(Self.refreshToken), "target": .string(target),
          "last_modification_time": .string("\(now)"), "family_id": .string("1"),
        ])
      ]),
      "AppMetadata": .object([
        "appmetadata-login.microsoftonline.com-\(Self.client)": .object([
          "client_id": .string(Self.client), "environment": .string("login.microsoftonline.com"),
          "family_id": .string("1"),
        ])
      ]),
    ]).canonicalText()
  }
}
