// Owns the settings that say who may call a listener.

public import Bytes
public import Tokens

/// Who may call. Every rule that is given must hold; where none is, processes of this machine may call.
public struct CallerSettings: Sendable, Equatable {
  /// `anyone: true`: every caller that can connect.
  public var isOpen = false
  /// Processes at the other end of a unix socket.
  public var peers: PeerRule?
  /// A field that carries a secret.
  public var header: HeaderRule?
  /// A client certificate.
  public var certificate: CertificateRule?
  /// A bearer token of the caller's own.
  public var bearer: BearerRule?
  /// Origins (RFC 6454 §6.2, such as `https://app.example`) of other sites whose pages may call, in lower case.
  public var origins: Set<String> = []

  /// No rule.
  public static let none = CallerSettings()

  /// Whether a rule tells callers of other machines apart, or admits all of them.
  public var admitsOtherMachines: Bool { isOpen || header != nil || certificate != nil || bearer != nil }

  /// Users and groups, by number; the caller's process must run as one of either.
  public struct PeerRule: Sendable, Equatable {
    /// User ids.
    public let users: Set<UInt32>
    /// Primary group ids.
    public let groups: Set<UInt32>
  }

  /// A field and what must stand in it.
  public struct HeaderRule: Sendable, Equatable {
    /// The field's name as configured.
    public let name: String
    /// Its value.
    public let value: Secret
  }

  /// Who issues callers' certificates, and for whom.
  public struct CertificateRule: Sendable, Equatable {
    /// PEM: the certification authorities.
    public let caFile: Located<String>
    /// Subjects (RFC 2253) and subject alternative names (`DNS:`, `URI:`, `email:`), one of which the certificate must
    /// have; none: every certificate of the authorities.
    public let subjects: Set<String>
  }

  /// Whose tokens callers bring, and for whom.
  public struct BearerRule: Sendable, Equatable {
    /// The issuer.
    public let authority: Located<Authority>
    /// Audiences, one of which the token must have.
    public let audiences: Set<String>
    /// Trust for the authority; nil is the system's.
    public let caFile: Located<String>?
    /// The way to the issuer.
    public let proxy: ProxyChoice
  }
}
