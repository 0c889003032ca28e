// The demonstration's two services put together: a certificate authority of their own, keys, files, servers.

package import Bytes
internal import FoundationEssentials
package import Platform
internal import Tokens

/// Why the demonstration's services cannot start.
package enum DemoError: Error, Sendable {
  /// A key or a certificate could not be made.
  case crypto(CryptoError)
  /// A file could not be written.
  case file(path: String)
  case tls(TLSConfigurationError)
  /// Loopback cannot be listened on, or the kernel gave no event loop.
  case system(SystemError)
}

package struct DemoSettings: Sendable {
  /// An existing folder, for the files below.
  package var directory: String
  /// Ports on 127.0.0.1. Another one is used if it is 0 or in use.
  package var providerPort: UInt16 = 0
  package var apiPort: UInt16 = 0
  package var identityPort: UInt16 = 0
  /// Lifetimes and habits of the provider at its start.
  package var behaviour = ProviderBehaviour()
  /// A certificate that proves the nightly job; nil: one is made, with its key beside it.
  package var clientCertificate: [UInt8]?
  /// Whose tokens prove the sample portal in the place of the secret.
  package var federated: [FederatedCredential] = []

  /// Any ports, tokens for an hour.
  package init(directory: String) {
    self.directory = directory
  }

  /// The root certificate that both services' certificates lead to: written at every start.
  package var authorityPath: String { "\(directory)/demo-ca.pem" }
  /// The sample applications' secret, mode 0600.
  package var secretPath: String { "\(directory)/client-secret" }
  /// The certificate that proves the sample's nightly job, and its key, mode 0600.
  package var clientCertificatePath: String { "\(directory)/client.pem" }
  package var clientKeyPath: String { "\(directory)/client.key" }
  var certificatePath: String { "\(directory)/demo-server.pem" }
  var keyPath: String { "\(directory)/demo-server.key" }
}

/// A running identity provider and the running sample APIs, over TLS on loopback.
package final class DemoServices: Sendable {
  /// Such as `https://localhost:8443`.
  package let providerOrigin: String
  /// Such as `https://localhost:8444`: the orders API under `/api`, the ledger API under `/ledger`.
  package let apiOrigin: String
  /// Such as `http://127.0.0.1:8445`: the service of a machine that hands out tokens for its identity, as Azure's does.
  package let identityOrigin: String
  private let loop: EventLoop
  private let servers: [DemoServer]

  package var issuer: String { DiscoveryDocument.issuer(origin: providerOrigin, tenant: DemoDirectory.Sample.tenant) }

  /// Makes keys, certificates and a client secret, writes the files that `settings` name, and starts both services.
  /// `clock` tells the services' time; `log` hears of every exchange.
  package init(
    _ settings: DemoSettings, clock: @escaping @Sendable () -> UnixTime = DemoServices.systemTime,
    log: @escaping @Sendable (DemoExchange) -> Void = { _ in }
  ) throws(DemoError) {
    let (secret, tls, certificate) = try Self.prepare(settings)
    do throws(SystemError) {
      loop = try EventLoop()
    } catch {
      throw .system(error)
    }
    let sockets = try Self.bind([settings.providerPort, settings.apiPort, settings.identityPort])
    let ports = sockets.map(\.address.port)
    // The name, not the address: the certificate is verified against it.
    (providerOrigin, apiOrigin) = ("https://localhost:\(ports[0])", "https://localhost:\(ports[1])")
    identityOrigin = "http://127.0.0.1:\(ports[2])"
    do throws(CryptoError) {
      let sample = DemoDirectory.Sample.self
      let origin = providerOrigin
      let key = try RSAKey.generate()
      let machine = FederatedCredential(
        issuer: DiscoveryDocument.issuer(origin: origin, tenant: sample.tenant), subject: sample.machineObject,
        keys: JWKSet(keys: [try TokenSigner(key: key).publicKey]))
      let provider = try IdentityProvider(
        origin: origin,
        directory: .sample(
          secret: secret, federated: settings.federated, certificate: certificate, machine: machine),
        key: key, behaviour: settings.behaviour)
      let apis = SampleAPI.Kind.allCases.map { kind in
        SampleAPI(
          kind, issuers: [sample.tenant, sample.fabrikam].map(provider.issuer), keySet: provider.keySet,
          authorizationURI: "\(origin)/\(sample.tenant)/oauth2/v2.0/authorize", countFrom: provider.tokensCountFrom)
      }
      let services = [
        DemoService(name: "provider", answer: provider.answer), DemoService(apis),
        DemoService(name: "identity", answer: provider.machineAnswer),
      ]
      servers = zip(services, sockets).map { [loop] service, socket in
        DemoServer(
          service, socket, tls: service.name == "identity" ? nil : tls, loop: loop, clock: clock, log: log)
      }
    } catch {
      throw .crypto(error)
    }
  }

  package func stop() async {
    for server in servers { await server.stop() }
    loop.shutDown()
  }

  /// The machine's wall clock.
  package static let systemTime: @Sendable () -> UnixTime = {
    UnixTime(Int64(Date().timeIntervalSince1970.rounded(.down)))
  }

  private static func prepare(
    _ settings: DemoSettings
  ) throws(DemoError) -> (Secret, TLSContext, RegisteredCertificate?) {
    let (authority, server, client, secret) = try material()
    try write(authority, to: settings.authorityPath, mode: 0o644)
    try write(server.certificate, to: settings.certificatePath, mode: 0o644)
    try write(server.key, to: settings.keyPath, mode: 0o600)
    try write(secret, to: settings.secretPath, mode: 0o600)
    if settings.clientCertificate == nil {
      try write(client.certificate, to: settings.clientCertificatePath, mode: 0o644)
      try write(client.key, to: settings.clientKeyPath, mode: 0o600)
    }
    let certificate = RegisteredCertificate(pem: settings.clientCertificate ?? client.certificate)
    do throws(TLSConfigurationError) {
      let identity = TLSIdentity(certificatePath: settings.certificatePath, keyPath: settings.keyPath)
      return (Secret(secret), try TLSContext.server(identity), certificate)
    } catch {
      throw .tls(error)
    }
  }

  private static func material() throws(DemoError) -> ([UInt8], CertificateAndKey, CertificateAndKey, [UInt8]) {
    do throws(CryptoError) {
      let authority = try DemoCertificateAuthority(name: "bearer-proxy demonstration root", days: 30)
      let server = try authority.issue(
        name: "bearer-proxy demonstration", .server(names: ["localhost", "127.0.0.1", "::1"]), days: 30)
      let client = try authority.issue(name: "nightly job", .client, key: .rsa, days: 30)
      let secret = try Base64URL.encode(RandomBytes.make(24))
      return (try authority.certificate(), server, client, Array(secret.utf8))
    } catch {
      throw .crypto(error)
    }
  }

  private static func write(_ bytes: [UInt8], to path: String, mode: Int) throws(DemoError) {
    guard FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: mode])
    else { throw .file(path: path) }
  }

  /// Listens on each port of 127.0.0.1, or on another one if that is in use.
  private static func bind(_ ports: [UInt16]) throws(DemoError) -> [BoundSocket] {
    var sockets: [BoundSocket] = []
    do throws(SystemError) {
      for port in ports {
        do throws(SystemError) {
          try sockets.append(bound(port))
        } catch {
          if port == 0 { throw error }
          try sockets.append(bound(0))
        }
      }
      return sockets
    } catch {
      for socket in sockets { socket.close() }
      throw .system(error)
    }
  }

  private static func bound(_ port: UInt16) throws(SystemError) -> BoundSocket {
    try BoundSocket.bind(SocketAddress(.ipv4(0x7F00_0001, port: port)), count: 1)[0]
  }
}

extension DemoService {
  /// Several APIs on one address, each under its own path.
  fileprivate init(_ apis: [SampleAPI]) {
    name = "api"
    digestsBody = { method, path in apis.contains { $0.digestsBody(method: method, path: path) } }
    answer = { request, now in
      (apis.first { request.path.hasPrefix($0.root + "/") } ?? apis[0]).answer(request, now: now)
    }
  }
}
