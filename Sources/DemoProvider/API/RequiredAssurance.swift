// What an endpoint asks of the sign-in behind a token beyond its permission, and the claims that show it.

internal import Bytes
internal import FoundationEssentials
internal import Tokens

/// How a person must have signed in.
enum RequiredAssurance {
  /// Any sign-in will do.
  case any
  /// The token must name this authentication context: Entra's way.
  case context(String)
  /// At this level, at most so long ago: RFC 9470's way.
  case recent(level: String, seconds: Int64)

  /// What a token lacks; nil: nothing.
  func lack(_ claims: AssuranceClaims, authenticatedAt: UnixTime?, now: UnixTime) -> AccessDecision? {
    switch self {
    case .any: nil
    case .context(let context):
      claims.contexts.contains(context)
        ? nil
        : .insufficientClaims(
          #"{"access_token":{"acrs":{"essential":true,"value":"\#(context)"}}}"#, isCapable: claims.isCapable)
    case .recent(let level, let seconds):
      claims.level == level && authenticatedAt.map { now - $0 <= seconds } == true
        ? nil : .insufficientAuthentication(level: level, seconds: seconds)
    }
  }
}

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
