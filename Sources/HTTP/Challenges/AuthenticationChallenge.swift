// Owns what one challenge of a `WWW-Authenticate` field says, unquoted but not interpreted. Reading is
// `AuthenticationChallengeList`'s; what a scheme's parameters mean is the scheme's.

/// One challenge of an origin (RFC 9110 §11.3).
public struct AuthenticationChallenge: Sendable, Hashable {
  /// A parameter (RFC 9110 §11.2).
  public struct Parameter: Sendable, Hashable {
    /// The name, in lower case.
    public var name: String
    /// The value without quotes and escapes. Bytes that are not UTF-8 have become U+FFFD.
    public var value: String

    /// A parameter; `name` is in lower case.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The scheme, in lower case.
  public var scheme: String
  /// What stands in place of parameters, such as NTLM's base64.
  public var token68: String?
  /// The parameters in the order they were sent, repetitions included.
  public var parameters: [Parameter]
  /// Whether everything between this scheme and the next was grammar. What was not has been left out.
  public var isWellFormed: Bool

  /// A challenge of these parts.
  public init(
    scheme: String, token68: String? = nil, parameters: [Parameter] = [], isWellFormed: Bool = true
  ) {
    self.scheme = scheme
    self.token68 = token68
    self.parameters = parameters
    self.isWellFormed = isWellFormed
  }

  /// The values of all parameters of a name, which is in lower case. More than one is an error of the sender.
  public func values(of name: String) -> [String] {
    parameters.filter { $0.name == name }.map(\.value)
  }
}
