internal import Bytes
internal import FoundationEssentials
internal import HTTPServer
internal import Platform
internal import Tokens

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

/// A failure of the demonstration.
package struct DemonstrationError: Error {
  package let message: String

  package init(_ message: String) { self.message = message }
}

/// Writes a file with this mode.
package func writeFile(_ content: [UInt8], to path: String, mode: Int = 0o600) throws(DemonstrationError) {
  let rights = [FileAttributeKey.posixPermissions: mode]
  guard FileManager.default.createFile(atPath: path, contents: Data(content), attributes: rights) else {
    throw DemonstrationError("cannot write to \(path)")
  }
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
  package init(_ settings: DemoSettings, log: @escaping @Sendable (DemoExchange) -> Void = { _ in }) throws {
    loop = try EventLoop()
    let sockets = try settings.ports.map(BoundSocket.loopback(preferring:))
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
        clock: { UnixTime.now.seconds })
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
  private static func prepare(_ settings: DemoSettings, origin: String) throws -> (IdentityProvider, TLSContext) {
    let identity = TLSIdentity(
      certificatePath: "\(settings.directory)/demo-server.pem", keyPath: "\(settings.directory)/demo-server.key")
    let authority = try DemoCertificateAuthority(name: "bearer-proxy demonstration root", days: 30)
    let server = try authority.issue(
      name: "bearer-proxy demonstration", .server(names: ["localhost", "127.0.0.1", "::1"]), days: 30)
    let client = try authority.issue(name: "nightly job", .client, days: 30)
    let secret = try Base64URL.encode(RandomBytes.make(24))
    for (path, content, mode) in [
      (settings.authorityPath, try authority.certificate(), 0o644),
      (identity.certificatePath, server.certificate, 0o644), (identity.keyPath, server.key, 0o600),
      (settings.secretPath, Array(secret.utf8), 0o600),
      (settings.clientCertificatePath, client.certificate, 0o644), (settings.clientKeyPath, client.key, 0o600),
    ] {
      try writeFile(content, to: path, mode: mode)
    }
    let provider = try IdentityProvider(
      origin: origin, key: .generate(), secret: Secret(secret), federated: settings.federated,
      certificate: FederatedCredential(certificate: client, of: DemoDirectory.Sample.nightly),
      behaviour: settings.behaviour)
    return (provider, try .server(identity))
  }
}
