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
    let directory = try TemporaryDirectory()
    let authority = try await TestSupport.CertificateAuthority(in: directory)
    let server = try await OpenSSLServer(in: directory, try await authority.issue("server"), [version])
    #expect(try await Self.connect(server, trust: authority.file, times: 3) == [false, true, true])
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    var name: String
    var trust = "ca"
    var host = "localhost"
    var days = 2
    var arguments: [String] = []
    var reason: String
    var testDescription: String { name }
  }

  @Test(arguments: [
    Refusal(name: "another authority", trust: "other", reason: "unable to get local issuer certificate"),
    Refusal(name: "another name", host: "other.example", reason: "hostname mismatch"),
    Refusal(name: "another address", host: "127.0.0.2", reason: "IP address mismatch"),
    Refusal(name: "expired", days: -1, reason: "certificate has expired"),
    Refusal(name: "TLS 1.1", arguments: ["-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"], reason: "protocol version"),
  ])
  func `a server is refused that is not the one, or not safe`(refusal: Refusal) async throws {
    let directory = try TemporaryDirectory()
    let authority = try await TestSupport.CertificateAuthority(in: directory)
    let other = try await TestSupport.CertificateAuthority("other", in: directory)
    let server = try await OpenSSLServer(
      in: directory, try await authority.issue("server", days: refusal.days), refusal.arguments)
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

/// `openssl s_server` on loopback.
private struct OpenSSLServer {
  let port: Int
  private let process: ChildProcess

  init(
    in directory: TemporaryDirectory, _ certificate: TestSupport.CertificateAuthority.Certificate, _ arguments: [String]
  ) async throws {
    port = try freePort()
    process = try ChildProcess(
      "s_server",
      [
        "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate.certificateFile, "-key",
        certificate.keyFile, "-www",
      ] + arguments, in: directory)
    let (process, name) = (process, "ACCEPT")
    guard try await eventually({ process.output.contains(name) || process.poll() != nil }), process.poll() == nil else {
      throw TestSupportError("openssl s_server does not start: \(process.errors)")
    }
  }
}
