import Bytes
import TestSupport
import Tokens

/// An issuer of callers' tokens, whose documents are on a plain web server.
struct IssuerSite {
  let issuer: FederatedIssuer
  let documents: TemporaryDirectory
  let server: ChildProcess

  init() async throws {
    documents = try TemporaryDirectory()
    let port = try freePort()
    issuer = try FederatedIssuer("http://127.0.0.1:\(port)")
    try await succeed(["mkdir", documents.file(".well-known")])
    _ = try documents.write(
      """
      {"issuer": "\(issuer.name)", "token_endpoint": "\(issuer.name)/token", "jwks_uri": "\(issuer.name)/keys"}
      """, to: ".well-known/openid-configuration")
    _ = try documents.write(issuer.keys.json.canonicalText(), to: "keys")
    server = try ChildProcess(
      "issuer", [pinnedPython(), "-m", "http.server", "--bind", "127.0.0.1", "-d", documents.file("."), "\(port)"],
      in: documents)
    try await waitForPort(port, of: server)
  }
}
