// The challenges of `WWW-Authenticate` fields, unquoted but not interpreted: each scheme interprets its parameters.

/// One challenge of an origin (RFC 9110 §11.3).
package struct AuthenticationChallenge: Sendable, Hashable {
  /// A parameter (RFC 9110 §11.2).
  package struct Parameter: Sendable, Hashable {
    /// The name, in lower case.
    package var name: String
    /// The value without quotes and escapes. Bytes that are not UTF-8 have become U+FFFD.
    package var value: String
  }

  /// The scheme, in lower case.
  package var scheme: String
  /// A token68 in place of parameters, such as NTLM's base64.
  package var token68: String?
  /// The parameters in the order they were sent, repetitions included.
  package var parameters: [Parameter] = []
  /// True if everything between this scheme and the next is grammatical. The rest has been left out.
  package var isWellFormed = true

  /// The values of all parameters of a name, which is in lower case. More than one is an error of the sender.
  package func values(of name: String) -> [String] {
    parameters.filter { $0.name == name }.map(\.value)
  }
}

/// The challenges of a response's `WWW-Authenticate` fields, in order.
package struct AuthenticationChallengeList: Sendable {
  /// The challenges, at most `challengeLimit`.
  package private(set) var challenges: [AuthenticationChallenge] = []
  /// True if something was left out: text before any scheme, or beyond the limits.
  package private(set) var isTruncated = false

  private var bytesLeft = Self.byteLimit
  private var parametersLeft = Self.parameterLimit

  /// Bytes of all values together that are read.
  package static let byteLimit = 64 * 1024
  /// Challenges that are kept.
  package static let challengeLimit = 16
  /// Parameters of all challenges together that are kept.
  package static let parameterLimit = 64

  package init() {}

  /// The challenges of a response's head. Several lines are one list (RFC 9110 §5.3).
  package init(_ fields: borrowing FieldTable, in bytes: Span<UInt8>) {
    for index in 0..<fields.count where fields[index].known == .wwwAuthenticate {
      read(bytes.extracting(fields[index].value))
    }
  }

  /// Adds the challenges of one more field line. Parameters at its beginning belong to the last challenge of the line
  /// before.
  package mutating func read(_ value: Span<UInt8>) {
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
    // Text behind a gap could be read as part of the wrong challenge.
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
