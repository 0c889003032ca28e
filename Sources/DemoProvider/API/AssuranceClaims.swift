// Owns the claims that only the sample API reads: those of how a person signed in, and of what the application can do.

internal import Bytes
internal import FoundationEssentials
internal import Tokens

/// What a token says of itself beyond the claims of every token.
struct AssuranceClaims: Decodable {
  /// `preferred_username`.
  var userName: String?
  /// `acr`.
  var level: String?
  /// `acrs`.
  var contexts: [String] = []
  /// `xms_cc`.
  var capabilities: [String] = []

  /// Whether the application understands a claims challenge.
  var isCapable: Bool { capabilities.contains { $0.lowercased() == "cp1" } }

  private enum Name: String, CodingKey {
    case preferred_username, acr, acrs, xms_cc
  }

  /// Those of a token that was accepted. One that says them otherwise says nothing.
  init(_ token: SignedJWT) {
    let payload = token.signingInput.split(separator: UInt8(ascii: "."))[1]
    do {
      self = try JSONDecoder().decode(
        Self.self, from: Data(Base64URL.decode(String(decoding: payload, as: UTF8.self))))
    } catch {
      (userName, level) = (nil, nil)
    }
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Name.self)
    userName = try members.decodeIfPresent(String.self, forKey: .preferred_username)
    level = try members.decodeIfPresent(String.self, forKey: .acr)
    contexts = try members.decodeIfPresent([String].self, forKey: .acrs) ?? []
    capabilities = try members.decodeIfPresent([String].self, forKey: .xms_cc) ?? []
  }
}
