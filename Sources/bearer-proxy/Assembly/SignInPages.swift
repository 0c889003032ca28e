// The way from a listener's settings to its sign-in pages: by which address browsers know it.

import Bytes
import Configuration
import HTTP
import Platform
import Proxy
import Telemetry
import Tokens

extension Composition {
  /// The sign-in pages of a listener, if it has any. Sign-ins in progress at one of `former` of the same
  /// address go on.
  func signInHandler(
    _ settings: ListenerSettings, _ listener: ProxyListener, _ service: Service, succeeding former: [SignInHandler?]
  ) -> SignInHandler? {
    guard let signIn = settings.signIn, let origin = SignInOrigin(settings, listener) else { return nil }
    let predecessor = former.compactMap(\.self).first { $0.origin == origin }
    do throws(CryptoError) {
      let signInHandler = try SignInHandler(
        origin, hasOneName: signIn.publicURL == nil, hasLogout: signIn.hasLogout, service: service,
        SignInHandler.Surroundings(
          store: store, broker: broker, now: { .now }, log: log,
          lifetime: Int64(signIn.limit.nanoseconds / 1_000_000_000)), succeeding: predecessor)
      let uris = signInHandler.redirectURIs
      if predecessor?.redirectURIs != uris {
        for uri in uris { log.info("sign-in pages", ["redirect_uri": .string(uri)]) }
      }
      return signInHandler
    } catch {
      log.error(
        "no sign-in pages: the cryptography library fails",
        ["reason": .string("\(error)"), "next": .next(.cryptography)])
      return nil
    }
  }
}

extension SignInOrigin {
  /// A listener's address for browsers; nil if it has no sign-in pages.
  init?(_ settings: ListenerSettings, _ listener: ProxyListener) {
    self.init(settings, boundTo: listener.address?.port)
  }

  /// The same of a listener that need not be there: its port is the configured one.
  init?(_ settings: ListenerSettings) {
    let address = settings.address.value
    self.init(settings, boundTo: address.ipAddress == nil ? nil : address.port)
  }

  /// Without a public URL a loopback listener's own: `localhost`, because Entra ignores the port of that name alone,
  /// and the address if the name may mean another one.
  private init?(_ settings: ListenerSettings, boundTo port: UInt16?) {
    guard let signIn = settings.signIn else { return nil }
    if let url = signIn.publicURL {
      self.init(url)
      return
    }
    guard settings.address.value.ipAddress != nil, let port else { return nil }
    let host = settings.address.value.host
    let name = host == "127.0.0.1" || host == "::1" ? "localhost" : host
    let literal = name.contains(":") ? "[\(name)]" : name
    let scheme = settings.tls == nil ? "http" : "https"
    guard let url = HTTPURL(readable: "\(scheme)://\(literal):\(port)/") else { return nil }
    self.init(url)
  }
}
