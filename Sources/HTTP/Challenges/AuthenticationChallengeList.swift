// Owns the reading of `WWW-Authenticate`: where one challenge ends and the next begins. It never fails; what cannot be
// read is left out and said so.
//
//     WWW-Authenticate = #challenge
//     challenge        = auth-scheme [ 1*SP ( token68 / #auth-param ) ]                             (RFC 9110 §11.3,
//     §11.6.1) auth-param       = token BWS "=" BWS ( token / quoted-string ) token68          = 1*( ALPHA / DIGIT /
//     "-" / "." / "_" / "~" / "+" / "/" ) *"="
//
// A comma may end a parameter or a challenge: a token that no "=" follows begins a challenge. Parameters that only a
// space separates are read as well, because senders that forget the comma exist (MSAL for .NET reads nothing else).

/// The challenges of a response's `WWW-Authenticate` fields, in order.
public struct AuthenticationChallengeList: Sendable {
  /// The challenges, at most `challengeLimit`.
  public private(set) var challenges: [AuthenticationChallenge] = []
  /// Whether something was left out: text before any scheme, or what is beyond the limits.
  public private(set) var isTruncated = false

  private var bytesLeft = Self.byteLimit
  private var parametersLeft = Self.parameterLimit

  /// Bytes of all values together that are read.
  public static let byteLimit = 64 * 1024
  /// Challenges that are kept.
  public static let challengeLimit = 16
  /// Parameters of all challenges together that are kept.
  public static let parameterLimit = 64

  /// No challenges.
  public init() {}

  /// The challenges of a response's head. Several lines are one list (RFC 9110 §5.3).
  public init(_ fields: borrowing FieldTable, in bytes: Span<UInt8>) {
    var next = fields.index(of: .wwwAuthenticate)
    while let index = next {
      read(bytes.extracting(fields[index].value))
      next = fields.index(of: .wwwAuthenticate, from: index + 1)
    }
  }

  /// Adds what one more field line says. Parameters at its beginning belong to the last challenge of the line before.
  public mutating func read(_ value: Span<UInt8>) {
    guard value.count <= bytesLeft else {
      isTruncated = true
      bytesLeft = 0
      return
    }
    bytesLeft -= value.count
    var scanner = ChallengeScanner(value)
    while let element = scanner.next() { take(element) }
  }

  private mutating func take(_ element: ChallengeScanner.Element) {
    // What follows a gap could be read as part of the wrong challenge.
    guard !isTruncated else { return }
    if case .scheme(let scheme) = element, challenges.count < Self.challengeLimit {
      challenges.append(AuthenticationChallenge(scheme: scheme))
      return
    }
    let last = challenges.count - 1
    switch element {
    case .token68(let text) where last >= 0: challenges[last].token68 = text
    case .garbage where last >= 0: challenges[last].isWellFormed = false
    case .parameter(let parameter) where last >= 0 && parametersLeft > 0:
      parametersLeft -= 1
      challenges[last].parameters.append(parameter)
      // Either the one or the others.
      if challenges[last].token68 != nil { challenges[last].isWellFormed = false }
    case .scheme, .token68, .parameter, .garbage: isTruncated = true
    }
  }
}
