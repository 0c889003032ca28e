import Bytes
package import HTTP

/// A reason not to act upon Bearer challenges. Their response is passed on as it is.
package enum ChallengeFault: String, Error, Sendable, Hashable, CaseIterable {
  /// The fields break the grammar.
  case malformed
  /// There are more, or longer ones, than are read.
  case tooLarge = "too_large"
  /// A parameter occurs twice.
  case repeatedParameter = "repeated_parameter"
  /// Several challenges ask for different things.
  case conflicting
  /// `claims` is neither JSON nor base64 of JSON, no object, or larger than `Claims.limit`.
  case claims
  /// `error`, `scope`, `acr_values` or `max_age` breaks its grammar or limits.
  case parameter
}

/// The meaning of the Bearer challenges of a response.
package enum BearerChallengeReading: Sendable, Hashable {
  case absent
  /// They make one request.
  case usable(BearerChallenge)
  /// They are not acted upon.
  case unusable(ChallengeFault)

  /// Reads the challenges. Of several for Bearer, those with an `error` count, and must ask for the same. Claims count
  /// under `insufficient_claims`, under `invalid_token` (as Azure Resource Manager sends them) and without an error;
  /// under every other error the client must not repeat them (MSAL's rule).
  package init(_ list: AuthenticationChallengeList) {
    let bearer = list.challenges.filter { $0.scheme == "bearer" }
    if list.isTruncated {
      // A challenge that was left out may have been Bearer's.
      self = .unusable(list.challenges.isEmpty ? .malformed : .tooLarge)
      return
    }
    guard !bearer.isEmpty else {
      self = .absent
      return
    }
    do throws(ChallengeFault) {
      var readings: [BearerChallenge] = []
      for challenge in bearer { readings.append(try BearerChallenge(challenge)) }
      let errors = readings.filter { $0.error != nil || $0.claims != nil }
      let candidates = errors.isEmpty ? readings : errors
      let chosen = candidates[0]
      guard candidates.allSatisfy({ $0.asksTheSame(as: chosen) }) else { throw .conflicting }
      self = .usable(chosen)
    } catch {
      self = .unusable(error)
    }
  }
}

extension BearerChallenge {
  /// The meaning of a challenge's parameters. Unknown ones are ignored (RFC 6750 §3).
  init(_ challenge: AuthenticationChallenge) throws(ChallengeFault) {
    guard challenge.isWellFormed, challenge.token68 == nil else { throw .malformed }
    func value(_ name: String) throws(ChallengeFault) -> String? {
      let values = challenge.values(of: name)
      guard values.count <= 1 else { throw .repeatedParameter }
      return values.first
    }
    self.init()
    error = try value("error").map { text throws(ChallengeFault) in try Self.code(text) } ?? nil
    description = try value("error_description").map { Self.printable($0) }
    realm = try value("realm").map { Self.printable($0) }
    // MSAL for .NET's order.
    for name in ["authorization_uri", "authorization", "authority"] where authority == nil {
      authority = try value(name).flatMap { Self.authority($0) }
    }
    let wanted = challenge.values(of: "scope").first ?? ""
    guard wanted.utf8.count <= Self.textLimit,
      let scopes = ScopeSet(ifValid: wanted.split(separator: " ").map(String.init))
    else { throw .parameter }
    self.scopes = scopes
    _ = try value("scope")
    authenticationContexts = try Self.contexts(try value("acr_values") ?? "")
    maxAge = try value("max_age").map { text throws(ChallengeFault) in try Self.seconds(text) }
    resourceMetadata = try value("resource_metadata").map { Self.printable($0) }
    let claimsText = try value("claims")
    switch error {
    case nil, .insufficientClaims, .invalidToken:
      claims = try claimsText.map { text throws(ChallengeFault) in try Self.claims(text) }
    case .insufficientScope, .insufficientUserAuthentication, .other: break
    }
  }

  private static let textLimit = 4096

  /// RFC 6750 §3: visible ASCII and spaces, without quotes and backslashes. An empty one counts as absent.
  private static func code(_ text: String) throws(ChallengeFault) -> Code? {
    guard text.utf8.count <= 64, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) else {
      throw .parameter
    }
    return text.isEmpty ? nil : Code(text)
  }

  private static func contexts(_ text: String) throws(ChallengeFault) -> [String] {
    let words = text.split(separator: " ").map(String.init)
    let isRight = words.allSatisfy { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C } }
    guard isRight, words.count <= 16, text.utf8.count <= 1024 else { throw .parameter }
    return words
  }

  private static func seconds(_ text: String) throws(ChallengeFault) -> Int64 {
    guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let seconds = Int64(text)
    else { throw .parameter }
    return seconds
  }

  /// JSON as it is, or in base64 of either alphabet, padded or not.
  private static func claims(_ text: String) throws(ChallengeFault) -> Claims {
    var json = text
    if text.utf8.first(where: { $0 != 0x20 }) != UInt8(ascii: "{") {
      // In base64 four characters are three bytes.
      guard text.utf8.count <= Claims.limit / 3 * 4 + 4 else { throw .claims }
      guard let bytes = Base64.decode(text), let decoded = String(validating: bytes, as: UTF8.self) else {
        throw .claims
      }
      json = decoded
    }
    guard let claims = Claims(ifValid: json) else { throw .claims }
    return claims
  }

  /// The authority of an authorisation endpoint's address, without the path behind the tenant.
  private static func authority(_ text: String) -> String? {
    var authority = printable(text)
    for ending in ["/", "/authorize", "/v2.0", "/oauth2", "/v2.0", "/"] where authority.hasSuffix(ending) {
      authority.removeLast(ending.count)
    }
    return authority.isEmpty ? nil : authority
  }

  private static func printable(_ text: String) -> String { text.printable(limit: 300) }
}
