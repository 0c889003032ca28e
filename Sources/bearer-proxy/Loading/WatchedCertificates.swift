// The certificates of a configuration and their dates, for `check`, `/status`, the log and the metrics. A date alone
// fails nothing: the clock may be wrong, and the other side decides.

import Bytes
import Configuration
import HTTP
import Platform
import Proxy
import Telemetry
import Tokens

/// The certificates whose end is watched: of listeners, of applications, those shown to servers, and authorities.
struct WatchedCertificates: Sendable {
  /// Each with the key that names its file.
  private(set) var entries: [(certificate: WatchedCertificate, file: Located<String>)] = []

  var report: [WatchedCertificate] { entries.map(\.certificate) }

  /// A larger file is a bundle of public authorities, some of which always end soon.
  static let authorityLimit = 20

  /// Reads the files again. One that cannot be read any more is left out: its user reports it.
  /// - Parameter collector: the certificates for the collector of traces, as they were read at the start.
  init(_ settings: Settings, _ certificates: SigningCertificates, collector: WatchedCertificates) {
    for listener in settings.listeners { addOwn(.listener(listener.address.value.description), listener.tls) }
    for (name, loaded) in certificates.loaded {
      add(.application(name), loaded.file, CertificateFacts(loaded.certificate))
    }
    for route in settings.routes { addOwn(.client, route.tls.clientCertificate) }
    if case .redis(let redis) = settings.cache {
      addOwn(.client, redis.clientCertificate)
      addAuthorities(redis.caFile)
    }
    for listener in settings.listeners { addAuthorities(listener.callers.certificateTrust) }
    addAuthorities(settings.admin?.callers.certificateTrust)
    for issuer in settings.callerIssuers { addAuthorities(issuer.caFile) }
    for application in settings.applications { addAuthorities(application.caFile) }
    for route in settings.routes { addAuthorities(route.tls.caFile) }
    entries += collector.entries
  }

  /// Those for the collector of traces that the environment names, if it is reached over TLS.
  init(collectorOf environment: [String: String]) {
    guard let tracing = TracingEnvironment(environment).settings, tracing.target.url.scheme == .https else { return }
    addOwn(.collector, tracing.clientCertificate)
    addAuthorities(tracing.caFile, as: .collector)
  }

  private mutating func add(_ use: WatchedCertificate.Use, _ file: Located<String>?, _ facts: CertificateFacts?) {
    guard let file, let facts else { return }
    let certificate = WatchedCertificate(use, facts, file: file.value)
    if entries.contains(where: { $0.certificate.name == certificate.name }) { return }
    entries.append((certificate, file))
  }

  private mutating func addOwn(_ use: WatchedCertificate.Use, _ files: CertificateFiles?) {
    // Of the certificate and its chain: without an intermediate, nothing is trusted.
    let chain = files.map { Self.facts($0.certificateFile, limit: Self.authorityLimit) } ?? []
    add(use, files?.certificateFile, chain.min { $0.notAfter < $1.notAfter })
  }

  private mutating func addAuthorities(_ file: Located<String>?, as use: WatchedCertificate.Use = .authority) {
    add(use, file, file.flatMap { Self.firstToEnd(Self.facts($0, limit: Self.authorityLimit + 1)) })
  }

  /// The authority of a file that ends first. An authority that the file has again with a later end does not count;
  /// nil if there are none or too many.
  static func firstToEnd(_ authorities: [CertificateFacts]) -> CertificateFacts? {
    guard authorities.count <= authorityLimit else { return nil }
    let last = Dictionary(authorities.map { ($0.subject, $0) }) { $0.notAfter < $1.notAfter ? $1 : $0 }
    return last.values.min { ($0.notAfter, $0.subject) < ($1.notAfter, $1.subject) }
  }

  private static func facts(_ file: Located<String>, limit: Int) -> [CertificateFacts] {
    do throws(FileError) {
      return CertificateFacts.all(
        inPEM: try ReadableFile.contents(of: file.value, limit: 1 << 20), limit: limit)
    } catch {
      return []
    }
  }

  /// A warning for each that has ended, ends within 30 days or is not valid yet.
  func warnings(at now: UnixTime) -> [ConfigurationIssue] {
    entries.compactMap { certificate, file in
      certificate.warning(at: now).map { file.issue("\($0): \(certificate.cure(at: now).words())") }
    }
  }
}

extension WatchedCertificate {
  fileprivate init(_ use: Use, _ facts: CertificateFacts, file: String) {
    self.init(
      use, file: file, thumbprint: upperHexadecimal(facts.sha1),
      validity: CertificateValidity(notBefore: UnixTime(facts.notBefore), notAfter: UnixTime(facts.notAfter)))
  }

  /// A warning about its dates at an instant; nil if they are right.
  func warning(at now: UnixTime) -> String? {
    switch validity.state(at: now) {
    case .valid: nil
    case .endsSoon, .endsVerySoon: "the certificate ends in \(words(seconds: validity.notAfter - now))"
    case .notYetValid:
      "the certificate is valid only in \(words(seconds: validity.notBefore - now)), or this machine's clock is wrong"
    case .expired:
      "the certificate ended \(words(seconds: now - validity.notAfter)) ago, or this machine's clock is wrong"
    }
  }
}

extension CertificateFacts {
  fileprivate init(_ certificate: SigningCertificate) {
    self.init(subject: "", sha1: certificate.sha1, notBefore: certificate.notBefore, notAfter: certificate.notAfter)
  }
}

/// Bytes in upper-case hexadecimal digits, as portals list thumbprints.
func upperHexadecimal(_ digest: [UInt8]) -> String {
  let digits = digest.flatMap { [ASCII.upperHexadecimalDigit($0 >> 4), ASCII.upperHexadecimalDigit($0 & 0xF)] }
  return String(decoding: digits, as: UTF8.self)
}
