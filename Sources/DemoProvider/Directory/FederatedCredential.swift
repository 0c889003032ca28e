// Owns whom an application lets speak for it (Entra's federated identity credentials), and whether an assertion is that
// one's.

internal import Bytes
internal import Platform
package import Tokens

/// Another issuer's tokens that prove an application.
package struct FederatedCredential: Sendable {
  /// The one issuer.
  package var issuer: String
  /// The one subject, such as `system:serviceaccount:orders:legacy-app`.
  package var subject: String
  /// What the tokens must be meant for.
  package var audience: String
  /// The issuer's public keys. A provider on the network would fetch them.
  package var keys: JWKSet

  /// The audience that Entra wants.
  package static let exchange = "api://AzureADTokenExchange"

  /// A credential.
  package init(issuer: String, subject: String, audience: String = exchange, keys: JWKSet) {
    self.issuer = issuer
    self.subject = subject
    self.audience = audience
    self.keys = keys
  }

  /// Whether an assertion is one of these tokens, and good at an instant.
  func accepts(_ assertion: SignedJWT, now: UnixTime) throws(JWTRejection) -> Bool {
    let rule = JWTValidation(issuer: issuer, audiences: [audience], leeway: 0)
    let claims = try rule.accept(assertion, now: now) { token, _ in
      let isSigned = keys.candidates(for: token.header).contains { key in
        do throws(CryptoError) {
          return try RSAPublicKey(modulus: key.modulus, exponent: key.exponent)
            .verifies(token.signature.span, of: token.signingInput.span, .rs256)
        } catch {
          return false
        }
      }
      return isSigned ? .valid : .invalid
    }
    return claims.subject == subject
  }
}
