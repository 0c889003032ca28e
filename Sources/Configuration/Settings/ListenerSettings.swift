// Owns the settings of the places where this process accepts connections.

public import Bytes
public import HTTP

/// `Host` values that a listener accepts besides its own address.
public enum AcceptedHosts: Sendable, Hashable {
  /// These names, in lower case, without a port.
  case names(Set<String>)
  /// `"*"`: every name.
  case any
}

/// The certificate that a listener shows, or that the proxy shows to an upstream. Both files were readable when the
/// configuration was read; whether they belong together is found out by who loads them.
public struct CertificateFiles: Sendable, Hashable {
  /// A PEM file: the certificate, then its chain.
  public let certificateFile: Located<String>
  /// A PEM file: the private key.
  public let keyFile: Located<String>
}

/// One place where traffic is accepted.
public struct ListenerSettings: Sendable, Equatable {
  /// Where.
  public let address: Located<SocketAddress>
  /// `Host` values accepted besides the address.
  public let hosts: AcceptedHosts
  /// Who may call.
  public let callers: CallerSettings
  /// The certificate of a listener that speaks TLS; `nil` is plain HTTP.
  public let tls: CertificateFiles?
  /// Pages below `/.bearer/` where people sign in; `nil` is none.
  public let signIn: SignInSettings?
}

/// A listener's sign-in pages.
public struct SignInSettings: Sendable, Hashable {
  /// The address by which browsers know the listener, its path `/`; `nil` is its own. Providers send browsers back to
  /// `/.bearer/callback` there.
  public let publicURL: HTTPURL?
  /// How long a person may take from the page to the provider, and as long again to come back.
  public let limit: TimeSpan

  /// The usual limit.
  static let usualLimit = TimeSpan.seconds(600)
}

/// The place where health, metrics and status are served.
public struct AdminSettings: Sendable, Equatable {
  /// Where.
  public let address: Located<SocketAddress>
  /// Who may call.
  public let callers: CallerSettings
}
