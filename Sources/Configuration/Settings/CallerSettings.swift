// Owns the settings that say who may call a listener.

package import Routing
public import Tokens

/// Who may call, and the files and servers by which callers prove who they are.
public struct CallerSettings: Sendable, Equatable {
  /// The rules; where there is none, processes of this machine may call.
  package var rules = CallerRules()
  /// PEM: the authorities of callers' certificates.
  public var certificateTrust: Located<String>?
  /// Whose tokens callers bring.
  public var issuer: Issuer?

  /// No rule.
  public static let none = CallerSettings()

  /// An issuer of callers' tokens, and how it is reached.
  public struct Issuer: Sendable, Equatable {
    /// The issuer.
    public let authority: Located<Authority>
    /// Audiences, one of which the token must have.
    public let audiences: Set<String>
    /// Trust for the authority; nil is the system's.
    public let caFile: Located<String>?
    /// The way to the issuer.
    package let proxy: ProxyChoice
  }
}
