// TLS contexts of a test, made with the openssl command.

import Platform
import TestSupport

/// A server's context and that of somebody who trusts it.
struct TLSFiles {
  let client: TLSContext
  let server: TLSContext

  init() async throws {
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let certificate = try await authority.issue("server")
    client = try .client(trustPath: authority.file)
    server = try .server(
      TLSIdentity(certificatePath: certificate.certificateFile, keyPath: certificate.keyFile))
  }
}
