// The TLS contexts that a configuration asks for. Loading them shows which certificates, keys and CA files cannot be
// used; each is reported at its place, all at once.

import Configuration
import HTTP
import Platform
import Tokens

/// A context for every listener, route and application with TLS.
struct TLSContexts {
  /// By the listener's position; `nil` for one with plain HTTP.
  let listeners: [TLSContext?]
  /// By the route's position; `nil` for an http upstream.
  let routes: [TLSContext?]
  /// By the application's name; none for an http authority.
  let applications: [String: TLSContext]
  /// By the application's name, for services of the machine; none for those that speak plain HTTP.
  let machines: [String: TLSContext]
  /// By the application's name, for the proxies that receive token requests; none if they go to the provider.
  let tokenProxies: [String: TLSContext]
  /// For services elsewhere that hand out an application's proof; nil if there is none.
  let federation: TLSContext?
  /// For the authorities of callers' tokens, by their CA file.
  let callerIssuers: [String?: TLSContext]
  /// The files that each context was made of.
  fileprivate let made: [MadeOf: TLSContext]

  /// Loads every file once. Routes and applications with the same settings share a context, also with those of `former`
  /// if the files are unchanged: connections made with them are as good as new ones.
  init(
    _ settings: Settings, _ certificates: SigningCertificates, reusing former: TLSContexts? = nil
  ) throws(ConfigurationError) {
    var loader = TLSContextLoader(former: former?.made ?? [:])
    listeners = settings.listeners.map { listener in
      listener.tls.flatMap {
        loader.server($0, callers: listener.callers.certificateTrust, offersHTTP2: listener.http2)
      }
    }
    routes = settings.routes.map { route in
      guard route.upstream.value.scheme == .https else { return nil }
      let application = route.application.flatMap { settings.application(named: $0) }
      let shown = application.flatMap { certificates.shownToUpstreams(by: $0) }
      return loader.client(
        caFile: route.tls.caFile, shown.map { .loaded($0) } ?? .init(route.tls.clientCertificate), user: route.upstream)
    }
    func named(_ context: (ApplicationSettings) -> TLSContext?) -> [String: TLSContext] {
      let contexts = settings.applications.map { ($0.name, context($0)) }
      return Dictionary(uniqueKeysWithValues: contexts).compactMapValues(\.self)
    }
    applications = named { application in
      guard application.managedIdentity == nil, application.authority.value.url.scheme == .https else { return nil }
      let shown = certificates.shownToProvider(by: application)
      return loader.client(caFile: application.caFile, shown.map { .loaded($0) } ?? .none, user: application.authority)
    }
    machines = named { application in
      application.machineIdentity.flatMap { loader.pinned($0.identity.host, user: application.authority) }
    }
    tokenProxies = named { $0.tokenProxy.flatMap { loader.tokenProxy($0) } }
    let federated = settings.applications.first { application in
      guard case .federated(.service(.githubActions(let url, _)), _)? = application.credential else { return false }
      return url.scheme == .https
    }
    federation = federated.flatMap { loader.client(caFile: nil, .none, user: $0.authority) }
    var callerIssuers: [String?: TLSContext] = [:]
    for rule in settings.callerIssuers where rule.authority.value.url.scheme == .https {
      callerIssuers[rule.caFile?.value] = loader.client(caFile: rule.caFile, .none, user: rule.authority)
    }
    self.callerIssuers = callerIssuers
    made = loader.made
    if !loader.issues.isEmpty { throw ConfigurationError(loader.issues) }
  }

  /// The context for one server besides them.
  static func client<User>(
    caFile: Located<String>?, certificate: CertificateFiles?, user: Located<User>
  ) throws(ConfigurationError) -> TLSContext? {
    var loader = TLSContextLoader(former: [:])
    let context = loader.client(caFile: caFile, .init(certificate), user: user)
    if !loader.issues.isEmpty { throw ConfigurationError(loader.issues) }
    return context
  }
}

/// The certificate for a server that asks for one.
private enum ShownCertificate {
  case none
  case files(CertificateFiles)
  /// An application's, which was loaded before.
  case loaded(SigningCertificate)

  init(_ files: CertificateFiles?) {
    self = files.map { .files($0) } ?? .none
  }

  var files: CertificateFiles? { if case .files(let files) = self { files } else { nil } }
}

/// The files that a context is made of, and what they hold.
private struct MadeOf: Hashable {
  var isServer: Bool
  /// True if callers may choose HTTP/2.
  var offersHTTP2 = false
  /// Of the authorities; nil: the system's.
  var caFile: String?
  var certificate: TLSIdentity?
  /// SHA-256 of a certificate that was loaded before.
  var loaded: [UInt8]?
  private var contents: [[UInt8]?]

  init(server certificate: TLSIdentity, callers: String?, offersHTTP2: Bool) {
    (isServer, self.offersHTTP2, caFile, self.certificate) = (true, offersHTTP2, callers, certificate)
    contents = Self.contents(callers, certificate)
  }

  init(client shown: ShownCertificate, caFile: String?) {
    (isServer, self.caFile, certificate) = (false, caFile, shown.files.map { TLSIdentity($0) })
    if case .loaded(let certificate) = shown { loaded = certificate.sha256 }
    contents = Self.contents(caFile ?? TLSContext.systemTrustPath, certificate)
  }

  private static func contents(_ authorities: String?, _ certificate: TLSIdentity?) -> [[UInt8]?] {
    [authorities, certificate?.certificatePath, certificate?.keyPath].map { $0.flatMap { contentDigest(of: $0) } }
  }
}

/// Makes contexts and remembers them by the files they are made of.
private struct TLSContextLoader {
  let former: [MadeOf: TLSContext]
  private(set) var made: [MadeOf: TLSContext] = [:]
  private var failed: Set<MadeOf> = []
  private(set) var issues: [ConfigurationIssue] = []

  init(former: [MadeOf: TLSContext]) {
    self.former = former
  }

  mutating func server(_ files: CertificateFiles, callers: Located<String>?, offersHTTP2: Bool) -> TLSContext? {
    let parts = MadeOf(server: TLSIdentity(files), callers: callers?.value, offersHTTP2: offersHTTP2)
    do throws(TLSConfigurationError) {
      return try context(parts) { () throws(TLSConfigurationError) in
        try TLSContext.server(TLSIdentity(files), callerTrustPath: callers?.value, offersHTTP2: offersHTTP2)
      }
    } catch {
      report(error, certificate: files, caFile: callers, elsewhere: files.certificateFile)
      return nil
    }
  }

  mutating func client<User>(caFile: Located<String>?, _ shown: ShownCertificate, user: Located<User>) -> TLSContext? {
    let parts = MadeOf(client: shown, caFile: caFile?.value)
    // Files that cannot be used are reported once, at their first use.
    if failed.contains(parts) { return nil }
    do throws(TLSConfigurationError) {
      return try context(parts) { () throws(TLSConfigurationError) in
        switch shown {
        case .none, .files: try TLSContext.client(trustPath: parts.caFile, identity: parts.certificate)
        case .loaded(let certificate): try TLSContext.client(trustPath: parts.caFile, showing: certificate)
        }
      }
    } catch {
      report(error, certificate: shown.files, caFile: caFile, elsewhere: user)
      failed.insert(parts)
      return nil
    }
  }

  /// For the one identity service with TLS.
  mutating func pinned<User>(_ host: ManagedIdentityHost, user: Located<User>) -> TLSContext? {
    guard case .serviceFabric(_, _, let thumbprint) = host else { return nil }
    return made(try TLSContext.client(pinned: thumbprint)) { user.issue("TLS cannot be used: \($0)") }
  }

  /// For the proxy of an AKS identity binding.
  mutating func tokenProxy(_ settings: TokenProxySettings) -> TLSContext? {
    guard case .text(let text) = settings.proxy.trust else {
      return client(caFile: settings.caFile, .none, user: settings.place)
    }
    return made(try TLSContext.client(trustText: text)) { _ in
      settings.place.issue("AZURE_KUBERNETES_CA_DATA holds no usable certification authorities")
    }
  }

  private mutating func made(
    _ context: @autoclosure () throws(TLSConfigurationError) -> TLSContext,
    otherwise issue: (TLSConfigurationError) -> ConfigurationIssue
  ) -> TLSContext? {
    do throws(TLSConfigurationError) { return try context() } catch { issues.append(issue(error)) }
    return nil
  }

  private mutating func context(
    _ parts: MadeOf, make: () throws(TLSConfigurationError) -> TLSContext
  ) throws(TLSConfigurationError) -> TLSContext {
    let context = if let known = made[parts] ?? former[parts] { known } else { try make() }
    made[parts] = context
    return context
  }

  /// Names the key whose file it is; what has no file is reported at the setting that needs TLS.
  private mutating func report<User>(
    _ error: TLSConfigurationError, certificate: CertificateFiles?, caFile: Located<String>?, elsewhere: Located<User>
  ) {
    let file: Located<String>? =
      switch error {
      case .certificate: certificate?.certificateFile
      case .key, .mismatch: certificate?.keyFile
      case .trust: caFile
      case .unreadable(let path, _):
        [certificate?.certificateFile, certificate?.keyFile, caFile].compactMap { $0 }.first { $0.value == path }
      case .unavailable: nil
      }
    issues.append(file?.issue(error.words) ?? elsewhere.issue("TLS cannot be used: \(error)"))
  }
}

extension TLSConfigurationError {
  /// The file, and its mistake.
  var words: String {
    switch self {
    case .certificate(let path, let failure): "\(path) holds no usable certificate: \(failure)"
    case .key(let path, let failure): "\(path) holds no usable private key: \(failure)"
    case .mismatch(let certificate, let key): "\(key) is not the key of the certificate in \(certificate)"
    case .trust(let path, let failure): "\(path ?? "the system") holds no usable certification authorities: \(failure)"
    case .unreadable(let path, let failure): "cannot read \(path): \(failure.description)"
    case .unavailable(let failure): "\(failure)"
    }
  }
}

extension TLSIdentity {
  /// The same two files, as paths.
  init(_ files: CertificateFiles) {
    self.init(certificatePath: files.certificateFile.value, keyPath: files.keyFile.value)
  }
}
