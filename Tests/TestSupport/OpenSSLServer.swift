// A TLS server that we did not write: `openssl s_server`, which answers each request with a page.

/// `openssl s_server` on a port of 127.0.0.1.
package struct OpenSSLServer: Sendable {
  package let port: Int
  private let process: ChildProcess

  /// Starts it with further options of its command line.
  package init(
    _ certificate: CertificateAuthority.Certificate, _ options: [String] = [], in directory: TemporaryDirectory? = nil
  ) async throws {
    port = try freePort()
    process = try ChildProcess(
      "s_server-\(port)",
      [
        "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate.certificateFile, "-key",
        certificate.keyFile, "-www",
      ] + options, in: directory)
    try await waitForPort(port, of: process)
  }
}
