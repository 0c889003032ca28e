// TLS contexts of a test.

import Platform
import TestSupport

/// A server's context and that of somebody who trusts it.
struct TLSFiles {
  let client: TLSContext
  let server: TLSContext

  init() throws {
    let certificate = StandingCertificate.server
    client = try .client(trustPath: StandingCertificate.authorityFile)
    server = try .server(
      TLSIdentity(certificatePath: certificate.certificateFile, keyPath: certificate.keyFile))
  }
}
