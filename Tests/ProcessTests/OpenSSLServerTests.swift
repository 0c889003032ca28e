// Connections to a TLS server that we did not write: `openssl s_server`.

import Bytes
import HTTP
import TestSupport
import Testing

@testable import HTTPClient
@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct OpenSSLServerTests {
  /// Runs `openssl s_server`, which answers each request with a page, and connects to it.
  private static func connect(
    _ server: OpenSSLServer, trust: String, name: String = "localhost", times: Int = 1
  ) async throws -> [Bool] {
    let context = try TLSContext.client(trustPath: trust)
    let url = try HTTPURL("https://localhost:\(server.port)/")
    return try await onLoop { loop in
      let pool = OriginPool(
        Origin(url, tls: context, serverName: name), limits: PoolLimits(),
        resolver: Resolver(lookUp: { _ in .success([SocketAddress(.ipv4(0x7F00_0001, port: 0))]) }), loop: loop)
      let waiter = Waiter(loop)
      defer { waiter.close() }
      var wereResumed: [Bool] = []
      for _ in 0..<times {
        let connection = try await pool.connect(waiter, until: .now + .seconds(10))
        await connection.stream.sendAll("GET / HTTP/1.0\r\n\r\n")
        let page = await connection.stream.receiveAll()
        #expect(String(decoding: page.bytes, as: UTF8.self).hasPrefix("HTTP/1.0 200"))
        wereResumed.append(connection.stream.tls?.isResumed == true)
        pool.giveBack(connection)
      }
      pool.closeIdle()
      return wereResumed
    }
  }

  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func `sessions are resumed with openssl s_server`(version: String) async throws {
    let authority = try await TestSupport.CertificateAuthority()
    let server = try await OpenSSLServer(authority.issue("server"), [version])
    #expect(try await Self.connect(server, trust: authority.file, times: 3) == [false, true, true])
  }

  /// The flaw; the authority that is trusted, the server's name, the days of its certificate, its options; and the
  /// reason that is told.
  static let refusals: [(flaw: String, trust: String, host: String, days: Int, options: [String], reason: String)] = [
    ("another authority", "other", "localhost", 2, [], "unable to get local issuer certificate"),
    ("another name", "ca", "other.example", 2, [], "hostname mismatch"),
    ("another address", "ca", "127.0.0.2", 2, [], "IP address mismatch"),
    ("expired", "ca", "localhost", -1, [], "certificate has expired"),
    ("TLS 1.1", "ca", "localhost", 2, ["-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"], "protocol version"),
  ]

  @Test(arguments: refusals)
  func `a server is refused that is not the one, or not safe`(
    _ refusal: (flaw: String, trust: String, host: String, days: Int, options: [String], reason: String)
  ) async throws {
    let authority = try await TestSupport.CertificateAuthority()
    let other = try await TestSupport.CertificateAuthority("other")
    let server = try await OpenSSLServer(
      authority.issue("server", days: refusal.days), refusal.options)
    do {
      _ = try await Self.connect(
        server, trust: refusal.trust == "ca" ? authority.file : other.file, name: refusal.host)
      Issue.record("the server was taken")
    } catch let error as UpstreamError {
      #expect(error.reason.contains(refusal.reason), "\(error.reason)")
      #expect(!error.reason.contains(refusal.host))
    }
  }
}
