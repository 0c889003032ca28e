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

/// One address for traffic.
package struct ListenerSettings: Sendable, Equatable {
  package let address: Located<SocketAddress>
  /// `Host` values accepted besides the address.
  package let hosts: AcceptedHosts
  package let callers: CallerSettings
  /// The certificate of a listener with TLS; `nil` is plain HTTP.
  package let tls: CertificateFiles?
  /// Pages below `/.bearer/` for signing in; nil: there are none.
  package let signIn: SignInSettings?
  /// The programs that get the tokens of routes here.
  package let handOut: HandOut
  /// True if callers may use HTTP/2.
  package let http2: Bool
  /// The programs that get tokens here; if there are any, nothing else is served.
  package var programs: [ProgramSettings] = []
}

extension ListenerSettings {
  /// A listener for one of the programs alone. A caller with the secret may call; subjects of exchanges are judged as
  /// here. Every process of the machine reaches loopback: a shape without a secret becomes the one with it.
  func serving(_ program: ProgramSettings, secret: Secret, at address: SocketAddress) -> ListenerSettings {
    var callers = CallerSettings.none
    callers.rules.isOpen = program.shape != .imds && self.callers.rules.isOpen
    callers.rules.bearer = self.callers.rules.bearer
    callers.issuer = self.callers.issuer
    let own = ProgramSettings(
      name: program.name, shape: program.shape.withSecret, secret: secret, leastLife: program.leastLife,
      tokens: program.tokens)
    return ListenerSettings(
      address: Located(address, place: self.address.place, key: self.address.key), hosts: .names([]), callers: callers,
      tls: nil, signIn: nil, handOut: .none, http2: false, programs: [own])
  }
}

/// A program that gets tokens for connections of its own.
package struct ProgramSettings: Sendable, Equatable {
  package struct Token: Sendable, Equatable {
    package enum Source: Sendable, Equatable {
      case route(String)
      /// An application's own.
      case application(String, ScopeSet)
    }

    package let source: Source
    /// Names by which the program asks for it; empty: those of its scopes.
    package let resources: [String]
    /// Managed identities by which the program asks for it; empty: it names none.
    package let identities: Set<String>
  }

  /// The name: the client id, and the label of metrics.
  package let name: String
  package let shape: ProgramShape
  /// nil for a shape without a secret.
  package let secret: Secret?
  /// The least rest of a token's life.
  package let leastLife: TimeSpan
  package let tokens: [Token]

  static let usualLife = TimeSpan.seconds(300)
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
  /// The time that a person may take from the page to the provider, and as long again to come back.
  package let limit: TimeSpan
  /// True if there is a page for signing out.
  package var hasLogout = false

  static let usualLimit = TimeSpan.seconds(600)
}

/// The address of health, metrics and status.
package struct AdminSettings: Sendable, Equatable {
  package let address: Located<SocketAddress>
  package let callers: CallerSettings
}

/// The permitted callers, and the files and servers by which they prove who they are.
package struct CallerSettings: Sendable, Equatable {
  /// The rules; if there is none, processes of this machine may call.
  package var rules = CallerRules()
  /// PEM: the authorities of callers' certificates.
  package var certificateTrust: Located<String>?
  /// Whose tokens callers bring.
  package var issuer: Issuer?

  package static let none = CallerSettings()

  /// An issuer of callers' tokens, and how it is reached.
  package struct Issuer: Sendable, Equatable {
    package let authority: Located<Authority>
    /// Audiences, one of which the token must have.
    package let audiences: Set<String>
    /// Scopes, all of which the token must have.
    package let scopes: ScopeSet
    /// The URL by which callers reach the listener, for their clients; nil is none.
    package let publicURL: HTTPURL?
    /// Trust for the authority; nil is the system's.
    package let caFile: Located<String>?
    package let proxy: ProxyChoice
  }
}
