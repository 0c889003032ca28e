package import Identity
package import Tokens

/// The assembly's facts about the process, for `/status` and `/config`.
package struct ServiceDescription: Sendable {
  /// The version, and the commit if the build has one.
  package var version: String
  /// The commit it was built from; nil if that is not known.
  package var commit: String?
  package var commands: OperatorCommands
  package var cache: @Sendable () -> CacheCondition.Report
  /// The certificates of the configuration, each name once.
  package var certificates: [WatchedCertificate]
  /// The effective configuration, for people or as JSON.
  package var configuration: @Sendable (_ form: AdminForm) -> String

  package init(
    version: String, commit: String? = nil, commands: OperatorCommands = OperatorCommands(configuration: "FILE"),
    cache: @escaping @Sendable () -> CacheCondition.Report = { CacheCondition.Report(path: nil) },
    certificates: [WatchedCertificate] = [],
    configuration: @escaping @Sendable (_ form: AdminForm) -> String = { _ in "" }
  ) {
    self.version = version
    self.commit = commit
    self.commands = commands
    self.cache = cache
    self.certificates = certificates
    self.configuration = configuration
  }
}

/// A certificate of the configuration whose end is watched.
package struct WatchedCertificate: Sendable, Hashable {
  package enum Use: Sendable, Hashable {
    /// Shown to callers of the listener at this address.
    case listener(String)
    /// Proves the application of this name.
    case application(String)
    /// Shown to servers that ask for a certificate.
    case client
    /// An authority by which servers or callers are trusted.
    case authority
    /// Shown to the collector of traces, or an authority by which that is trusted. It is read at the start only.
    case collector
  }

  package let use: Use
  package let file: String
  /// SHA-1 of the certificate, in hexadecimal digits.
  package let thumbprint: String
  package let validity: CertificateValidity

  package init(_ use: Use, file: String, thumbprint: String, validity: CertificateValidity) {
    (self.use, self.file, self.thumbprint, self.validity) = (use, file, thumbprint, validity)
  }

  /// The use and its name: the label of the metric, and the row of `/status`.
  package var name: String {
    switch use {
    case .listener(let address): "listener \(address)"
    case .application(let name): "application \(name)"
    case .client: "client \(file)"
    case .authority: "authority \(file)"
    case .collector: "collector \(file)"
    }
  }
}

/// The form of the admin listener's answers.
package enum AdminForm: Sendable, Hashable {
  /// Lines for people.
  case text
  /// JSON, if the query has `format=json`.
  case json
}
