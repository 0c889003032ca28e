// The certificates that applications prove themselves with: loading them shows which files do not fit together; each
// mistake is reported at its place, all at once. A certificate outside its dates is a warning: what is
// registered at the provider decides.

import Bytes
import Configuration
import HTTPClient
import Identity
import Platform
import Proxy
import Telemetry
import Tokens

/// The certificates of a configuration's applications.
struct SigningCertificates: Sendable {
  /// A loaded certificate and its place in the configuration.
  struct Loaded: Sendable {
    let file: Located<String>
    let certificate: SigningCertificate
    /// The application's proof with it.
    let credential: CredentialSource
  }

  private let applications: [ApplicationSettings]
  /// By the application's name, in the order of the file.
  let loaded: [(application: String, Loaded)]

  /// Loads every file.
  init(_ settings: Settings) throws(ConfigurationError) {
    var loader = SigningCertificateLoader()
    applications = settings.applications
    loaded = settings.applications.compactMap { application in
      guard let certificate = application.certificate else { return nil }
      return loader.load(certificate, of: application).map { (application.name, $0) }
    }
    if !loader.issues.isEmpty { throw ConfigurationError(loader.issues) }
  }

  private init(_ loaded: [(application: String, Loaded)] = [], of applications: [ApplicationSettings] = []) {
    self.loaded = loaded
    self.applications = applications
  }

  /// The same with those of some applications as they were in `former`.
  func keeping(_ names: Set<String>, from former: SigningCertificates) -> SigningCertificates {
    SigningCertificates(
      loaded.map { own in
        names.contains(own.application) ? former.loaded.first { $0.application == own.application } ?? own : own
      }, of: applications)
  }

  /// For configurations without any.
  static let none = SigningCertificates()

  /// An application's credential; nil for a public client.
  /// - Parameter fetch: reaches the provider of an application that proves another one.
  func credential(
    of application: ApplicationSettings, fetch: (ApplicationSettings) -> Fetch = { _ in Application.offline }
  ) -> CredentialSource? {
    switch application.credential {
    case nil: return nil
    case .secret(let secret): return .secret(secret)
    case .assertionFile(let settings): return .assertionFile(path: settings.file.value, settings.type)
    case .assertionCommand(let settings):
      return .assertionCommand(
        AssertionCommand(
          settings.words, environment: settings.environment, secrets: settings.secrets, within: settings.timeout),
        settings.type)
    case .managedIdentity(let settings): return .managedIdentity(settings.identity)
    case .federated(let source, let audience):
      return self.source(source, fetch).map { .federated($0, audience: audience) }
    case .certificate, .mutualTLS: return loaded.first { $0.application == application.name }?.1.credential
    }
  }

  private func source(
    _ source: FederatedSourceSettings, _ fetch: (ApplicationSettings) -> Fetch
  ) -> FederatedTokenSource? {
    switch source {
    case .managedIdentity(let settings): .managedIdentity(settings.identity)
    case .service(let service): .service(service)
    case .application(let name):
      applications.first { $0.name == name.value }.map {
        .application(Application($0, credential: credential(of: $0, fetch: fetch), fetch: fetch($0)))
      }
    }
  }

  /// The certificate that an application shows in TLS handshakes with its provider; nil if it shows none.
  func shownToProvider(by application: ApplicationSettings) -> SigningCertificate? {
    if case .mutualTLS(let certificate)? = credential(of: application) { certificate } else { nil }
  }

  /// The certificate that upstreams are shown with an application's tokens; nil if they are shown none of its own.
  func shownToUpstreams(by application: ApplicationSettings) -> SigningCertificate? {
    application.hasBoundTokens ? shownToProvider(by: application) : nil
  }

  /// The thumbprint of an application's certificate as portals show it; nil if it has none.
  func thumbprint(of application: String) -> String? {
    loaded.first { $0.application == application }.map { upperHexadecimal($0.1.certificate.sha1) }
  }
}

/// Loads certificates and collects what is wrong with them.
private struct SigningCertificateLoader {
  private(set) var issues: [ConfigurationIssue] = []

  /// More than any key and chain.
  private static let limit = 1 << 20

  mutating func load(
    _ settings: CertificateSettings, of application: ApplicationSettings
  ) -> SigningCertificates.Loaded? {
    guard let certificate = certificate(settings) else { return nil }
    if case .mutualTLS? = application.credential {
      return SigningCertificates.Loaded(
        file: settings.file, certificate: certificate, credential: .mutualTLS(certificate))
    }
    let authority = application.authority.value
    let possible = certificate.algorithms
    if let chosen = settings.algorithm, !possible.contains(chosen.value) {
      let words = possible.map(\.rawValue).joined(separator: ", ")
      issues.append(
        chosen.issue("the key of \(settings.file.value) signs with \(words), not with \(chosen.value.rawValue)"))
      return nil
    }
    guard let algorithm = settings.algorithm?.value ?? authority.assertionAlgorithm(among: possible) else { return nil }
    return SigningCertificates.Loaded(
      file: settings.file, certificate: certificate,
      credential: .certificate(
        certificate,
        ClientAssertionForm(
          algorithm, keyID: settings.keyID, sendsChain: settings.sendsChain, audience: settings.audience,
          claims: settings.claims)))
  }

  private mutating func certificate(_ settings: CertificateSettings) -> SigningCertificate? {
    let passphrase = settings.passphrase.map { $0.value.bytes.withUnsafeBufferPointer { Array($0) } }
    let keyFile: Located<String>
    do throws(SigningCertificateError) {
      switch settings.files {
      case .pem(let files):
        keyFile = files.keyFile
        guard let certificate = contents(files.certificateFile), let key = contents(keyFile) else { return nil }
        return try SigningCertificate(pem: certificate, key: key, passphrase: passphrase)
      case .archive(let file):
        keyFile = file
        guard let archive = contents(file) else { return nil }
        return try SigningCertificate(archive: archive, passphrase: passphrase)
      }
    } catch {
      issues.append(issue(error, settings, keyFile))
      return nil
    }
  }

  private func issue(
    _ error: SigningCertificateError, _ settings: CertificateSettings, _ key: Located<String>
  ) -> ConfigurationIssue {
    switch error {
    case .noCertificate(let reason):
      settings.file.issue("\(settings.file.value) holds no usable certificate: \(reason)")
    case .noKey(let reason): key.issue("\(key.value) holds no usable private key: \(reason)")
    case .passphraseMissing:
      key.issue("\(key.value) is encrypted: name a file with its passphrase in 'passphrase_file'")
    case .wrongPassphrase:
      (settings.passphrase?.issue("it is not the passphrase of \(key.value)"))
        ?? key.issue("\(key.value) cannot be decrypted")
    case .legacyCipher:
      key.issue(
        "\(key.value) is encrypted with a cipher that OpenSSL 3 no longer offers, such as RC2: write it again with a "
          + "newer one (openssl pkcs12 -legacy -in OLD -nodes | openssl pkcs12 -export -out NEW)")
    case .noArchive(let reason): key.issue("\(key.value) is no PKCS #12 archive: \(reason)")
    case .mismatch where key.value == settings.file.value:
      key.issue("\(key.value) holds a private key that is none of its certificates'")
    case .mismatch: key.issue("\(key.value) is not the key of the certificate in \(settings.file.value)")
    case .unusableKey(let error):
      key.issue(
        "\(key.value) holds a key that cannot prove an application: RSA of 2048 bits, or a curve of P-256, "
          + "P-384 and P-521 (\(error.words))")
    }
  }

  private mutating func contents(_ file: Located<String>) -> [UInt8]? {
    do throws(FileError) {
      return try ReadableFile.contents(of: file.value, limit: Self.limit)
    } catch {
      issues.append(file.issue("cannot read \(file.value): \(error.description)"))
      return nil
    }
  }
}
