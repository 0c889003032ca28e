public import Bytes

/// A reason why a text is no valid JWT of its issuer, for us, at this time.
public enum JWTRefusal: Error, Sendable, Hashable {
  /// The three parts of a compact serialisation.
  public enum Part: Sendable, Hashable {
    case header, claims, signature
  }

  /// There is none.
  case absent

  // Reading (`SignedJWT`).

  /// Not three parts between dots.
  case parts
  /// Longer than 64 KiB.
  case tooLong
  /// A part is not base64url.
  case base64url(Part, Base64URLError)
  /// A part is not a JSON object with members of the right types.
  case json(Part)

  // Every JWT (`JWTValidation`).

  /// Signed by an algorithm that is not allowed here, `none` among them.
  case algorithm(String)
  /// The header demands an unknown extension (`crit`).
  case criticalExtension
  /// The issuer has no such key.
  case unknownKey(identifier: String?)
  /// The signature is not the issuer's.
  case signature
  /// Issued by another issuer, or it names none.
  case issuer(String?)
  /// For another audience, or it names none.
  case audience([String])
  /// There is no `exp`.
  case withoutExpiry
  /// Valid until then only.
  case expired(at: UnixTime)
  /// Valid from then on only.
  case notYetValid(from: UnixTime)

  // ID tokens (`IDTokenValidation`).

  /// Made for another sign-in, or for none.
  case nonce
  /// Meant for several applications, and requested by another.
  case authorizedParty(String?)
  /// The sign-in is too long ago, or its time is missing: a maximum age was requested.
  case age(authenticatedAt: UnixTime?)

  // Access tokens (`Authority.judgeAccess`).

  /// The header's `typ` names another kind of JWT.
  case headerType
  /// The claims are those of another kind.
  case purpose
  /// It is an ID token: it tells an application who signed in.
  case idToken
  /// It is valid only with a proof of a key, and none was given.
  case confirmation
}

extension JWTRefusal: CustomStringConvertible {
  /// The words for the log. Values of the token are bounded and printable.
  public var description: String {
    switch self {
    case .absent: "there is none"
    case .parts: "it is opaque: a JWT has three parts"
    case .tooLong: "it is longer than 64 KiB"
    case .base64url(let part, _): "its \(part) is not base64url"
    case .json(let part): "its \(part) is not the JSON object of a JWT"
    case .algorithm(let name): "its algorithm \(Self.quoted(name)) is not RS256 or PS256"
    case .criticalExtension: "its header demands an extension (crit)"
    case .unknownKey(let name): "its key \(Self.quoted(name ?? "")) is none of the issuer's"
    case .signature: "its signature is not the issuer's, or the key is another issuer's"
    case .issuer(let name): "its issuer \(Self.quoted(name ?? "")) is not the authority's"
    case .audience(let names):
      "its audience \(names.prefix(4).map(Self.quoted).joined(separator: ", ")) is none of callers.bearer"
    case .withoutExpiry: "it has no exp"
    case .expired(let time): "it expired at \(time.seconds)"
    case .notYetValid(let time): "it is not valid before \(time.seconds)"
    case .nonce: "it was made for another sign-in (its nonce is another one)"
    case .authorizedParty: "it was asked for by another application"
    case .age(authenticatedAt: nil):
      "it does not say when the person signed in (it has no auth_time), and a recent sign-in was asked for"
    case .age: "the person signed in too long ago"
    case .headerType: "its typ is neither at+jwt nor JWT"
    case .purpose: "its claims say that it is a refresh, logout or event token"
    case .idToken: "it is an ID token"
    case .confirmation: "it is bound to a key (cnf) that the caller does not prove to hold"
    }
  }

  private static func quoted(_ text: String) -> String { "'\(text.printable(limit: 120))'" }
}
