// Owns the check of a PKCE verifier (RFC 7636 §4.6), S256 only.

internal import Bytes
internal import Platform
internal import Tokens

/// Whether who redeems a code is who asked for it.
enum ProofKey {
  /// A verifier is 43 to 128 unreserved characters, and its digest the challenge. None is needed where there was no
  /// challenge, and none may come: otherwise dropping the challenge from a request would go unnoticed (RFC 9700
  /// §2.1.1).
  static func accepts(verifier: String?, challenge: String?) throws(ProviderError) -> Bool {
    guard let challenge, let verifier else { return challenge == nil && verifier == nil }
    guard (43...128).contains(verifier.utf8.count), verifier.utf8.allSatisfy(isUnreserved) else { return false }
    do throws(CryptoError) {
      return try Base64URL.encode(SHA256.digest(of: Array(verifier.utf8))) == challenge
    } catch {
      throw .signing(error)
    }
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
