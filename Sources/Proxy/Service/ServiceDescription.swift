// What the executable tells a service about the process, for `/status` and `/config`.

package import Identity
package import Tokens

/// What the assembly knows of the process that serves.
package struct ServiceDescription: Sendable {
  /// The version, and the commit where the build has one.
  package var version: String
  /// The commit it was built from; nil where that is not known.
  package var commit: String?
  /// The configuration's file, for the commands that an operator is told to type.
  package var configurationFile: String
  /// How the cache stands.
  package var cache: @Sendable () -> CacheCondition.Report
  /// The certificates that applications prove themselves with.
  package var certificates: [ApplicationCertificate]
  /// The effective configuration, for people or as JSON.
  package var configuration: @Sendable (_ form: AdminForm) -> String

  /// A description.
  package init(
    version: String, commit: String? = nil, configurationFile: String = "FILE",
    cache: @escaping @Sendable () -> CacheCondition.Report = { CacheCondition.Report(path: nil) },
    certificates: [ApplicationCertificate] = [],
    configuration: @escaping @Sendable (_ form: AdminForm) -> String = { _ in "" }
  ) {
    self.version = version
    self.commit = commit
    self.configurationFile = configurationFile
    self.cache = cache
    self.certificates = certificates
    self.configuration = configuration
  }
}

/// A certificate that an application proves itself with.
package struct ApplicationCertificate: Sendable, Hashable {
  /// The application's name in the configuration.
  package var application: String
  /// SHA-1 of the certificate, in hexadecimal digits.
  package var thumbprint: String
  /// From when to when it is valid.
  package var validity: CertificateValidity

  package init(application: String, thumbprint: String, validity: CertificateValidity) {
    self.application = application
    self.thumbprint = thumbprint
    self.validity = validity
  }
}

/// How the admin listener answers.
package enum AdminForm: Sendable, Hashable {
  /// Lines for people.
  case text
  /// JSON, where the query says `format=json`.
  case json
}
