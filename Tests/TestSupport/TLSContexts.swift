// The two TLS contexts of a test: a server, and a client that trusts it.

package import Platform

/// A server's context and that of a client that trusts it.
package struct TLSContexts {
  package let client: TLSContext
  package let server: TLSContext

  package init() throws {
    let certificate = StandingCertificate.server
    client = try .client(trustPath: StandingCertificate.authorityFile)
    server = try .server(
      TLSIdentity(certificatePath: certificate.certificateFile, keyPath: certificate.keyFile))
  }
}
