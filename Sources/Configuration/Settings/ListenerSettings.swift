// The settings of the places where this process accepts connections.

package import Bytes
package import HTTP
package import Routing
package import Tokens

/// `Host` values that a listener accepts besides its own address.
package enum AcceptedHosts: Sendable, Hashable {
  /// These names, in lower case, without a port.
  case names(Set<String>)
  /// `"*"`: every name.
  case any
}

/// The certificate that a listener shows, or that the proxy shows to an upstream. Both files were readable when the
/// configuration was read; whether they belong together is found out by who loads them.
package struct CertificateFiles: Sendable, Hashable {
  /// A PEM file: the certificate, then its chain.
  package let certificateFile: Located<String>
  /// A PEM file: the private key.
  package let keyFile: Located<String>
}

/// One place where traffic is accepted.
package struct ListenerSettings: Sendable, Equatable {
  /// Where.
  package let address: Located<SocketAddress>
  /// `Host` values accepted besides the address.
  package let hosts: AcceptedHosts
  /// Who may call.
  package let callers: CallerSettings
  /// The certificate of a listener that speaks TLS; `nil` is plain HTTP.
  package let tls: CertificateFiles?
  /// Pages below `/.bearer/` where people sign in; `nil` is none.
  package let signIn: SignInSettings?
  /// The programs that get the tokens of routes here.
  package let handOut: HandOut
}

/// The programs that get tokens themselves, instead of having their requests forwarded.
package enum HandOut: String, Sendable, Hashable, CaseIterable {
  case none
  /// Proxies that forward requests themselves, such as nginx and Envoy.
  case proxies
}

/// A listener's sign-in pages.
package struct SignInSettings: Sendable, Hashable {
  /// The address by which browsers know the listener, its path `/`; `nil` is its own. Providers send browsers back to
  /// `/.bearer/callback` there.
  package let publicURL: HTTPURL?
  /// How long a person may take from the page to the provider, and as long again to come back.
  package let limit: TimeSpan
  /// Whether there is a page where people sign out.
  package var hasLogout = false

  static let usualLimit = TimeSpan.seconds(600)
}

/// The place where health, metrics and status are served.
package struct AdminSettings: Sendable, Equatable {
  /// Where.
  package let address: Located<SocketAddress>
  /// Who may call.
  package let callers: CallerSettings
}

/// Who may call, and the files and servers by which callers prove who they are.
package struct CallerSettings: Sendable, Equatable {
  /// The rules; where there is none, processes of this machine may call.
  package var rules = CallerRules()
  /// PEM: the authorities of callers' certificates.
  package var certificateTrust: Located<String>?
  /// Whose tokens callers bring.
  package var issuer: Issuer?

  /// No rule.
  package static let none = CallerSettings()

  /// An issuer of callers' tokens, and how it is reached.
  package struct Issuer: Sendable, Equatable {
    /// The issuer.
    package let authority: Located<Authority>
    /// Audiences, one of which the token must have.
    package let audiences: Set<String>
    /// Trust for the authority; nil is the system's.
    package let caFile: Located<String>?
    /// The way to the issuer.
    package let proxy: ProxyChoice
  }
}
