internal import Bytes
internal import FoundationEssentials
internal import HTTPServer
package import Platform
internal import Tokens

/// A reason why the demonstration's services cannot start.
package enum DemoError: Error, Sendable {
  case crypto(CryptoError)
  case tls(TLSConfigurationError)
  case system(SystemError)
  /// A file could not be written.
  case file(path: String)
}

package struct DemoSettings: Sendable {
  /// An existing folder, for the files below.
  package var directory: String
  /// Ports on 127.0.0.1 of the provider, the APIs and the machine's service. Another one is used if it is 0 or in use.
  package var ports: [UInt16] = [0, 0, 0]
  /// Lifetimes and habits of the provider at its start.
  package var behaviour = ProviderBehaviour()
  /// Whose tokens prove the sample portal in the place of the secret.
  package var federated: [FederatedCredential] = []

  package init(directory: String) { self.directory = directory }

  /// The root certificate that both services' certificates lead to: written at every start.
  package var authorityPath: String { "\(directory)/demo-ca.pem" }
  /// The sample applications' secret, mode 0600.
  package var secretPath: String { "\(directory)/client-secret" }
  /// The certificate that proves the sample's nightly job, and its key, mode 0600.
  package var clientCertificatePath: String { "\(directory)/client.pem" }
  package var clientKeyPath: String { "\(directory)/client.key" }
}

/// A running identity provider, the running sample APIs, over TLS on loopback, and a machine's service.
package final class DemoServices: Sendable {
  /// Such as `https://localhost:8443`.
  package let providerOrigin: String
  /// Such as `https://localhost:8444`: the orders API under `/api`, the ledger API under `/ledger`.
  package let apiOrigin: String
  /// Such as `http://127.0.0.1:8445`: the service of a machine that hands out tokens for its identity, as Azure's does.
  package let identityOrigin: String
  private let loop: EventLoop
  private let running: [(server: SmallServer<DemoService>, serving: Task<Void, Never>)]

  package var issuer: String { IdentityProvider.issuer(providerOrigin, DemoDirectory.Sample.tenant) }

  /// Makes keys, certificates and a client secret, writes the files that `settings` name, and starts the services.
  /// `log` hears of every exchange.
  package init(
    _ settings: DemoSettings, log: @escaping @Sendable (DemoExchange) -> Void = { _ in }
  ) throws(DemoError) {
    loop = try mapping(DemoError.system, EventLoop())
    let sockets = try mapping(DemoError.system, settings.ports.map(BoundSocket.loopback(preferring:)))
    let ports = sockets.map(\.address.port)
    // The name, not the address: the certificate is verified against it.
    (providerOrigin, apiOrigin) = ("https://localhost:\(ports[0])", "https://localhost:\(ports[1])")
    identityOrigin = "http://127.0.0.1:\(ports[2])"
    let (provider, tls) = try Self.prepare(settings, origin: providerOrigin)
    let apis = SampleAPI.Kind.allCases.map { SampleAPI(kind: $0, provider: provider) }
    let services = [
      DemoService(name: "provider", log: log, answer: provider.answer),
      DemoService(name: "api", digests: { request in apis.contains { $0.digests(request) } }, log: log) {
        request, now in
        (apis.first { request.path.hasPrefix($0.kind.rawValue + "/") } ?? apis[0]).answer(request, now: now)
      },
      DemoService(name: "identity", log: log, answer: provider.machineAnswer),
    ]
    running = zip(services, sockets).map { [loop] service, socket in
      var limits = ServerLimits()
      limits.patience = .seconds(60)
      let server = SmallServer(
        service, loop: loop, limits: limits, tls: service.name == "identity" ? nil : tls,
        clock: { WallClock.now.seconds })
      let serving = Task(executorPreference: loop) {
        defer { socket.close() }
        do throws(SystemError) {
          _ = await server.serve(try Listener(socket, loop: loop))
        } catch {
          log(DemoExchange(service: service.name, "listen", "", status: 0, note: error.description))
        }
      }
      return (server, serving)
    }
  }

  /// Closes every connection and stops listening.
  package func stop() async {
    for (server, serving) in running {
      server.stop()
      await serving.value
    }
    loop.shutDown()
  }

  /// The provider and the services' TLS, from keys and certificates that are written to the files of `settings`.
  private static func prepare(
    _ settings: DemoSettings, origin: String
  ) throws(DemoError) -> (IdentityProvider, TLSContext) {
    let identity = TLSIdentity(
      certificatePath: "\(settings.directory)/demo-server.pem", keyPath: "\(settings.directory)/demo-server.key")
    let (provider, files): (IdentityProvider, [(path: String, content: [UInt8], mode: Int)])
    do throws(CryptoError) {
      let authority = try DemoCertificateAuthority(name: "bearer-proxy demonstration root", days: 30)
      let server = try authority.issue(
        name: "bearer-proxy demonstration", .server(names: ["localhost", "127.0.0.1", "::1"]), days: 30)
      let client = try authority.issue(name: "nightly job", .client, days: 30)
      let secret = try Base64URL.encode(RandomBytes.make(24))
      provider = try IdentityProvider(
        origin: origin, key: .generate(), secret: Secret(secret), federated: settings.federated,
        certificate: FederatedCredential(certificate: client, of: DemoDirectory.Sample.nightly),
        behaviour: settings.behaviour)
      files = [
        (settings.authorityPath, try authority.certificate(), 0o644),
        (identity.certificatePath, server.certificate, 0o644), (identity.keyPath, server.key, 0o600),
        (settings.secretPath, Array(secret.utf8), 0o600),
        (settings.clientCertificatePath, client.certificate, 0o644), (settings.clientKeyPath, client.key, 0o600),
      ]
    } catch {
      throw .crypto(error)
    }
    for (path, content, mode) in files {
      let rights = [FileAttributeKey.posixPermissions: mode]
      guard FileManager.default.createFile(atPath: path, contents: Data(content), attributes: rights) else {
        throw .file(path: path)
      }
    }
    return (provider, try mapping(DemoError.tls, TLSContext.server(identity)))
  }
}

extension BoundSocket {
  /// A socket at `port` of 127.0.0.1, or at another one if that is in use.
  package static func loopback(preferring port: UInt16) throws(SystemError) -> BoundSocket {
    do throws(SystemError) {
      return try bind(SocketAddress(.ipv4(0x7F00_0001, port: port)), count: 1)[0]
    } catch {
      if port == 0 { throw error }
      return try loopback(preferring: 0)
    }
  }
}
