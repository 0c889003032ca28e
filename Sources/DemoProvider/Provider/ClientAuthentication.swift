// Owns how an application says which one it is and proves it at the token endpoint. Whether the proof is right is the
// grant's.

internal import FoundationEssentials
internal import Tokens

/// An application's identifier and the secret it sent.
struct ClientAuthentication: Equatable {
  var clientIdentifier: String
  var secret: Secret?

  /// From the form (`client_secret_post`), or from a Basic `Authorization` field, whose two parts are form-encoded
  /// (RFC 6749 §2.3.1). Using both is an error of that section.
  init(form: FormFields, authorization: String?) throws(ProviderError) {
    guard let authorization, authorization.lowercased().hasPrefix("basic ") else {
      guard let identifier = form["client_id"] else { throw .missingParameter("client_id") }
      clientIdentifier = identifier.lowercased()
      secret = form["client_secret"].map { Secret($0) }
      return
    }
    guard form["client_secret"] == nil, let decoded = Data(base64Encoded: String(authorization.dropFirst(6))),
      let colon = decoded.firstIndex(of: UInt8(ascii: ":"))
    else { throw .malformedBody }
    do throws(FormError) {
      clientIdentifier = try FormFields.decoded(decoded[..<colon]).lowercased()
      secret = Secret(try FormFields.decoded(decoded[(colon + 1)...]))
    } catch {
      throw .malformedBody
    }
    if let named = form["client_id"], named.lowercased() != clientIdentifier { throw .malformedBody }
  }
}
