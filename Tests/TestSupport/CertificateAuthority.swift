// Certificates of a test, made with the openssl command: an independent party, not our own signing code.

/// An authority and a certificate for localhost, 127.0.0.1 and ::1 among the fixtures, for tests that start no process.
/// Valid for a hundred years.
package enum StandingCertificate {
  /// The authority's own certificate.
  package static let authorityFile = testsDirectory + "/Fixtures/tls/authority.pem"
  /// The server's certificate and key.
  package static let server = CertificateAuthority.Certificate(
    certificateFile: testsDirectory + "/Fixtures/tls/server.pem", keyFile: testsDirectory + "/Fixtures/tls/server.key")
}

/// A certification authority that lives as long as its directory.
package struct CertificateAuthority: Sendable {
  /// PEM files of one certificate.
  package struct Certificate: Sendable {
    package let certificateFile: String
    package let keyFile: String
    /// Has the files, unless they are fixtures.
    fileprivate var directory: TemporaryDirectory?

    /// Both as keys of a configuration's `tls`.
    package var tls: String { "certificate_file: \(certificateFile), key_file: \(keyFile)" }
    /// Both as options of a peer.
    package var options: [String] { ["--certificate", certificateFile, "--key", keyFile] }
    /// Both as options of a curl that shows them.
    package var shown: [String] { ["--cert", certificateFile, "--key", keyFile] }

    /// Its digest, `sha1` or `sha256`, in upper-case hexadecimal digits.
    package func fingerprint(_ digest: String) async throws -> String {
      let line = try await succeed(["openssl", "x509", "-in", certificateFile, "-noout", "-fingerprint", "-\(digest)"])
      return (line.split(separator: "=").last ?? "").filter(\.isHexDigit)
    }
  }

  /// The authority's own certificate: what a party that trusts it is given.
  package let file: String
  private let keyFile: String
  private let directory: TemporaryDirectory
  private static func newKey(_ kind: String = "P-256") -> [String] {
    kind == "rsa"
      ? ["-newkey", "rsa:2048", "-nodes"] : ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:\(kind)", "-nodes"]
  }

  /// Makes the authority `name` in `directory`.
  package init(_ name: String = "ca", in directory: TemporaryDirectory? = nil) async throws {
    let directory = try directory ?? TemporaryDirectory()
    self.directory = directory
    file = directory.file("\(name).pem")
    keyFile = directory.file("\(name).key")
    try await succeed(
      ["openssl", "req", "-x509"] + Self.newKey() + [
        "-keyout", keyFile, "-out", file, "-days", "90", "-subj", "/CN=test \(name)",
      ])
  }

  /// Issues a certificate for `names`, each written as openssl's subjectAltName wants it (`DNS:localhost`,
  /// `IP:127.0.0.1`), into NAME.pem and NAME.key. It is valid for `days` from now; of a negative number, it has
  /// expired. `names` may be empty: the certificate then has a common name alone, `name` or the one given. `key` is
  /// `rsa` or a curve.
  package func issue(
    _ name: String, for names: [String] = ["DNS:localhost", "IP:127.0.0.1", "IP:::1"], commonName: String? = nil,
    key: String = "P-256", days: Int = 2
  ) async throws -> Certificate {
    let certificate = Certificate(
      certificateFile: directory.file("\(name).pem"), keyFile: directory.file("\(name).key"), directory: directory)
    let request = directory.file("\(name).csr")
    let names = names.isEmpty ? "" : "subjectAltName=\(names.joined(separator: ","))\n"
    let extensions = try directory.write(names + "basicConstraints=CA:FALSE\n", to: "\(name).ext")
    try await succeed(
      ["openssl", "req"] + Self.newKey(key) + [
        "-keyout", certificate.keyFile, "-out", request, "-subj", "/CN=\(commonName ?? name)",
      ])
    try await succeed([
      "openssl", "x509", "-req", "-in", request, "-CA", file, "-CAkey", keyFile, "-CAcreateserial", "-days", "\(days)",
      "-extfile", extensions, "-out", certificate.certificateFile,
    ])
    return certificate
  }
}
