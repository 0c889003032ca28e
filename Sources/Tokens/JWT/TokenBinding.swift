package import Bytes

/// Certificate-bound access tokens (RFC 8705 §3). The binding is read without proof: the upstream enforces it.
package enum TokenBinding {
  /// The certificate that the sender of a token has to show: the SHA-256 of its DER in base64url (`cnf.x5t#S256`). Nil
  /// for a token without such a condition, and for one that cannot be read.
  package static func certificate(of token: Secret) -> String? {
    [String: JSONValue](claimsOf: token.revealed())["cnf"]?.members?["x5t#S256"]?.text
  }

  /// True if a token may be sent with this certificate; nil: none.
  package static func allows(_ token: Secret, showing certificate: [UInt8]?) -> Bool {
    guard let bound = self.certificate(of: token) else { return true }
    return certificate.map { Base64URL.encode($0) == bound } ?? false
  }
}
