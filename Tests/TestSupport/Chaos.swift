// An upstream, and callers, that break off anywhere, and say what became of each exchange; see Tests/peers/chaos.py.

import FoundationEssentials

/// The results of exchanges in which something broke.
package struct Chaos: Decodable, Sendable {
  /// The number of each end: `whole`, `broken`, `left` by the caller, a status, `hung`.
  package let counts: [String: Int]
  /// Forbidden results, in words: another request's answer, a body that is not the right one, half of one that looks
  /// whole.
  package let wrongs: [String]

  /// Makes `count` exchanges through the proxy at `port`, by chance or as `arguments` of the callers say.
  /// - Parameter peer: the callers' script, `chaos_http2.py` for HTTP/2.
  package static func run(
    _ count: Int, port: Int, _ arguments: [String] = [], peer: String = "chaos.py"
  ) async throws -> Chaos {
    let text = try await succeed(
      [pinnedPython(), testsDirectory + "/peers/\(peer)", "callers", "\(port)", "\(count)"] + arguments,
      within: .seconds(120))
    return try JSONDecoder().decode(Chaos.self, from: Data(text.utf8))
  }
}

/// The upstream of such exchanges.
package struct ChaosUpstream: Sendable {
  /// The port of 127.0.0.1 it listens on.
  package let port: Int
  /// The process.
  package let process: ChildProcess

  /// Starts it, with TLS if there is a certificate; if there are `callers`, it asks for a certificate of theirs.
  package init(
    _ name: String = "chaos", in directory: TemporaryDirectory, certificate: CertificateAuthority.Certificate? = nil,
    callers: CertificateAuthority? = nil, peer: String = "chaos.py"
  ) async throws {
    let tls = certificate.map { ["--certificate", $0.certificateFile, "--key", $0.keyFile] } ?? []
    let demand = callers.map { ["--callers-ca", $0.file] } ?? []
    process = try ChildProcess(
      name, [pinnedPython(), testsDirectory + "/peers/\(peer)", "upstream"] + tls + demand, in: directory)
    port = try await announcedPort(of: process)
  }
}
