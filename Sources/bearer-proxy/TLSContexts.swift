// Owns the TLS contexts that a configuration asks for. Loading them shows which certificates, keys and CA files cannot
// be used; each is reported where it is written, all at once.

import Configuration
import HTTP
import Network
import Tokens

/// A context for every listener, route and application that speaks TLS.
struct TLSContexts {
  /// By the listener's position; `nil` for one that speaks plain HTTP.
  let listeners: [TLSContext?]
  /// By the route's position; `nil` for an http upstream.
  let routes: [TLSContext?]
  /// By the application's position; `nil` for an http authority.
  let applications: [TLSContext?]
  /// For the authorities of callers' tokens, by their CA file.
  let callerIssuers: [String?: TLSContext]

  /// Loads every file once. Routes and applications with the same settings share a context.
  init(_ settings: Settings) throws(ConfigurationError) {
    var loader = TLSContextLoader()
    listeners = settings.listeners.map { listener in
      listener.tls.flatMap { loader.server($0, callers: listener.callers.certificate?.caFile) }
    }
    routes = settings.routes.map { route in
      route.upstream.value.scheme == .https
        ? loader.client(caFile: route.tls.caFile, certificate: route.tls.clientCertificate, user: route.upstream) : nil
    }
    applications = settings.applications.map { application in
      application.authority.value.url.scheme == .https
        ? loader.client(caFile: application.caFile, certificate: nil, user: application.authority) : nil
    }
    var callerIssuers: [String?: TLSContext] = [:]
    for rule in settings.listeners.compactMap(\.callers.bearer) where rule.authority.value.url.scheme == .https {
      callerIssuers[rule.caFile?.value] = loader.client(
        caFile: rule.caFile, certificate: nil, user: rule.authority)
    }
    self.callerIssuers = callerIssuers
    if !loader.issues.isEmpty { throw ConfigurationError(loader.issues) }
  }
}

/// Makes contexts and remembers them by the files they are made of.
private struct TLSContextLoader {
  private struct Files: Hashable {
    var caFile: String?
    var certificate: TLSIdentity?
  }

  private var clients: [Files: TLSContext?] = [:]
  var issues: [ConfigurationIssue] = []

  mutating func server(_ files: CertificateFiles, callers: Located<String>?) -> TLSContext? {
    do throws(TLSConfigurationError) {
      return try TLSContext.server(TLSIdentity(files), callerTrustPath: callers?.value)
    } catch {
      report(error, certificate: files, caFile: callers, elsewhere: files.certificateFile)
      return nil
    }
  }

  mutating func client<User>(
    caFile: Located<String>?, certificate: CertificateFiles?, user: Located<User>
  ) -> TLSContext? {
    let files = Files(caFile: caFile?.value, certificate: certificate.map { TLSIdentity($0) })
    // Files that could not be used are reported once, where they are met first.
    if let known = clients[files] { return known }
    var context: TLSContext?
    do throws(TLSConfigurationError) {
      context = try TLSContext.client(trustPath: files.caFile, identity: files.certificate)
    } catch {
      report(error, certificate: certificate, caFile: caFile, elsewhere: user)
    }
    clients[files] = .some(context)
    return context
  }

  /// Names the key whose file it is; what has no file is reported at the setting that needs TLS.
  private mutating func report<User>(
    _ error: TLSConfigurationError, certificate: CertificateFiles?, caFile: Located<String>?, elsewhere: Located<User>
  ) {
    let issue =
      switch error {
      case .certificate(let path, let failure):
        certificate?.certificateFile.issue("\(path) holds no usable certificate: \(failure)")
      case .key(let path, let failure):
        certificate?.keyFile.issue("\(path) holds no usable private key: \(failure)")
      case .mismatch(let certificatePath, let keyPath):
        certificate?.keyFile.issue("\(keyPath) is not the key of the certificate in \(certificatePath)")
      case .trust(let path, let failure):
        caFile?.issue("\(path ?? "") holds no usable certification authorities: \(failure)")
      case .unavailable:
        nil as ConfigurationIssue?
      }
    issues.append(issue ?? elsewhere.issue("TLS cannot be used: \(error)"))
  }
}

extension TLSIdentity {
  /// The same two files, as paths.
  init(_ files: CertificateFiles) {
    self.init(certificatePath: files.certificateFile.value, keyPath: files.keyFile.value)
  }
}
