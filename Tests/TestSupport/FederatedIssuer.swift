// An issuer of workloads' tokens, such as a cluster with its service accounts.

package import Bytes
import Platform
package import Tokens

/// An issuer of assertions with a key of its own.
package struct FederatedIssuer: Sendable {
  package let name: String
  /// The one it vouches for.
  package let subject = "system:serviceaccount:orders:legacy-app"
  package let keys: JWKSet
  private let key: RSAKey

  package init(_ name: String = "https://oidc.cluster.example") throws {
    self.name = name
    key = try RSAKey.generate()
    keys = JWKSet(keys: [
      JWK(
        identifier: "cluster-1", algorithm: .rs256, modulus: key.publicKey.modulus, exponent: key.publicKey.exponent)
    ])
  }

  /// A token of the service account that is good for so many seconds after `now`.
  package func token(
    subject: String? = nil, audience: String = "api://AzureADTokenExchange", lifetime: Int64 = 3600, now: UnixTime
  ) throws -> String {
    try signed(
      JSONValue(["alg": "RS256", "kid": "cluster-1", "typ": "JWT"]),
      JSONValue([
        "iss": name, "sub": subject ?? self.subject, "aud": audience, "iat": now, "nbf": now, "exp": now + lifetime,
      ]))
  }

  /// A JWT of this header, to which algorithm and key are added, and of these claims, to which issuer and times are.
  package func signed(header: [String: JSONValue] = [:], claims: [String: JSONValue], now: UnixTime) throws -> String {
    let header = header.merging(["alg": .string("RS256"), "kid": .string("cluster-1")]) { $1 }
    let claims = claims.merging(["iss": .string(name), "exp": .integer((now + 3600).seconds)]) { $1 }
    return try signed(.object(header), .object(claims))
  }

  private func signed(_ header: JSONValue, _ claims: JSONValue) throws -> String {
    let input = SignedJWT.signingInput(header, claims)
    return try SignedJWT.compact(signingInput: input, signature: key.signature(of: input.span, .rs256)).revealed()
  }

  /// The same, from the wall clock.
  package func tokenNow(lifetime: Int64 = 3600) throws -> String {
    try token(lifetime: lifetime, now: .now)
  }
}
