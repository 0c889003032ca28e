// Owns what is shown of a token that was obtained.

import HTTP
import Identity
import Tokens

/// A token's description, with the token itself where that was asked for.
struct TokenReport {
  let route: String
  let subscription: TokenSubscription
  let value: BearerValue
  let now: UnixTime
  let reveal: Bool

  private var origin: TokenOrigin { value.origin }

  private var expiresIn: Int64 { value.lifetime.expiresAt - now }

  private var expiryDate: String {
    var buffer = ByteBuffer(capacity: HTTPDate.byteCount)
    HTTPDate.write(value.lifetime.expiresAt.seconds, into: &buffer)
    return String(decoding: buffer.bytes.withUnsafeBufferPointer { Array($0) }, as: UTF8.self)
  }

  /// One JSON object on a line.
  var json: String {
    var members: [String: JSONValue] = [
      "route": .string(route), "application": .string(subscription.application.name),
      "authority": .string(subscription.key.authority.description), "token_type": .string("Bearer"),
      "scopes": .array(value.scopes.words.map(JSONValue.string)),
      "expires_on": .integer(value.lifetime.expiresAt.seconds), "expires_in": .integer(expiresIn),
      "token_source": .string(origin.source.rawValue),
    ]
    members["tenant"] = origin.tenant.map(JSONValue.string)
    members["account"] = origin.account.map { account in
      .object([
        "username": .string(account.username), "home_account_id": .string(account.homeAccountID),
        "environment": .string(account.environment),
      ])
    }
    if reveal { members["access_token"] = .string(value.revealedToken()) }
    return JSONValue.object(members).canonicalText() + "\n"
  }

  /// A line for each fact.
  var text: String {
    var rows = [
      ("route", route), ("application", subscription.application.name),
      ("authority", subscription.key.authority.description),
    ]
    if let tenant = origin.tenant { rows.append(("tenant", tenant)) }
    if let account = origin.account { rows.append(("account", account.name)) }
    rows.append(("scopes", value.scopes.isEmpty ? "(none stated)" : value.scopes.description))
    rows.append(("expires", "\(expiryDate) (in \(words(seconds: expiresIn)))"))
    rows.append(("source", origin.source == .cache ? "cache" : "identity provider"))
    if reveal { rows.append(("token", value.revealedToken())) }
    return rows.map { name, fact in
      name + ":" + String(repeating: " ", count: 12 - name.count) + fact.printable(limit: 65_536) + "\n"
    }.joined()
  }
}
