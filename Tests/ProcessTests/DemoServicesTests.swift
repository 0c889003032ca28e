// Both services over TLS, with curl as the caller.

import DemoProvider
import TestSupport
import Testing
import Tokens

@Suite("Demo services", .timeLimit(.minutes(5))) struct DemoServicesTests {
  typealias Sample = DemoDirectory.Sample

  private let directory: TemporaryDirectory
  private let settings: DemoSettings
  private let services: DemoServices

  init() throws {
    directory = try TemporaryDirectory()
    settings = DemoSettings(directory: directory.path)
    services = try DemoServices(settings)
  }

  /// The answer to a curl that trusts the authority.
  private func get(_ arguments: [String]) async throws -> Answer {
    try await curl(["--cacert", settings.authorityPath] + arguments)
  }

  /// An `Authorization` field with a token.
  private func bearer() async throws -> [String] {
    let secret = textOfFile(settings.secretPath)
    let answer = try await get([
      "-d", "grant_type=client_credentials", "-d", "client_id=\(Sample.portal)", "--data-urlencode",
      "client_secret=\(secret)", "--data-urlencode", "scope=\(Sample.ordersURI)/.default",
      "\(services.providerOrigin)/\(Sample.tenant)/oauth2/v2.0/token",
    ])
    #expect(answer.status == 200, "\(answer.body)")
    return ["-H", "Authorization: Bearer \(try #require(answer.body.member("access_token")))"]
  }

  @Test func `discovery leads to the endpoints that grant and verify`() async throws {
    let metadata = try await get(["\(services.issuer)/.well-known/openid-configuration"])
    #expect(metadata.status == 200)
    #expect(metadata["date"]?.hasSuffix(" GMT") == true)
    #expect(metadata.body.contains("\"issuer\": \"\(services.issuer)\""))
    #expect(metadata.body.contains("\(services.providerOrigin)/\(Sample.tenant)/discovery/v2.0/keys"))
    let token = try await bearer()
    let me = try await get(token + ["\(services.apiOrigin)/api/me"])
    #expect(me.status == 200)
    #expect(me.body.contains("\"application\": \"\(Sample.portal)\""))
    #expect(!me.body.contains(String(token[1].dropFirst(22))))
    await services.stop()
  }

  @Test func `TLS fails without trust in the demonstration's authority`() async throws {
    let answer = try await curl(["\(services.apiOrigin)/api/me"])
    #expect(answer.status == 0)
    #expect(answer.exit == 60)
    await services.stop()
  }

  @Test(arguments: [["--http1.1"], ["--http1.0"]]) func `ticks arrive one by one, whole`(version: [String]) async throws
  {
    let answer = try await get(
      version + bearer() + ["\(services.apiOrigin)/api/ticks?count=3&pause_ms=20"])
    #expect(answer.exit == 0)
    #expect(answer["content-type"] == "text/event-stream")
    #expect(answer.body == (1...3).map { "id: \($0)\ndata: {\"tick\": \($0)}\n\n" }.joined())
    await services.stop()
  }

  @Test(arguments: [
    [], ["-H", "Transfer-Encoding: chunked"], ["-H", "Expect: 100-continue"], ["-X", "PUT"],
  ]) func `an upload of any size and framing is counted and digested`(options: [String]) async throws {
    let content = String(repeating: "0123456789abcdef", count: 200_000)
    let file = try directory.write(content, to: "upload")
    let digest = try await succeed(["openssl", "dgst", "-sha256", "-r", file]).prefix(64)
    let answer = try await get(
      options + bearer() + ["--data-binary", "@\(file)", "\(services.apiOrigin)/api/uploads"])
    #expect(answer.status == 200)
    #expect(answer.body.contains("\"bytes\": 3200000"))
    #expect(answer.body.contains(digest))
    await services.stop()
  }

  @Test func `a token request of more than 64 KiB is refused and the connection closed`() async throws {
    let file = try directory.write(String(repeating: "a", count: 70_000), to: "form")
    let answer = try await get([
      "--data-binary", "@\(file)", "\(services.providerOrigin)/\(Sample.tenant)/oauth2/v2.0/token",
    ])
    #expect(answer.status == 413)
    #expect(answer["connection"] == "close")
    await services.stop()
  }

  @Test func `HEAD has the head alone, and one connection carries several requests`() async throws {
    let metadata = "\(services.issuer)/.well-known/openid-configuration"
    let result = try await run([
      "curl", "-q", "-s", "--cacert", settings.authorityPath, "-I", metadata, metadata,
      "-w", "%{num_connects} %{http_code} %{size_download}\n",
    ])
    #expect(result.output.contains("1 200 0\n"))
    #expect(result.output.contains("0 200 0\n"))
    await services.stop()
  }

  @Test func `secrets are for their owner's eyes only`() async throws {
    let modes = try await succeed([
      "stat", "-c", "%a %n", settings.secretPath, directory.file("demo-server.key"), settings.authorityPath,
    ])
    #expect(modes.split(separator: "\n").map { $0.prefix(3) } == ["600", "600", "644"])
    #expect(textOfFile(settings.secretPath).count == 32)
    await services.stop()
  }

  @Test func `stopping closes connections that wait and frees the ports`() async throws {
    let port = try #require(services.apiOrigin.split(separator: ":").last.flatMap { Int($0) })
    let idle = try RawConnection(port: port)
    try await idle.send("x")
    let listener = try #require(Self.listener(on: port))
    await services.stop()
    #expect(try await idle.isClosedByPeer())
    // Another process may have taken the port since.
    #expect(Self.listener(on: port) != listener)
  }

  /// The inode of the socket that listens on an IPv4 port of this machine.
  private static func listener(on port: Int) -> Substring? {
    kernelSockets { $0[1] == kernelAddress(port) && $0[3] == "0A" }.first?[9]
  }
}

extension String {
  /// The first member of this name in a JSON text of ours, if it is a text.
  fileprivate func member(_ name: String) -> String? {
    guard let start = firstRange(of: "\"\(name)\": \"") else { return nil }
    return String(self[start.upperBound...].prefix { $0 != "\"" })
  }
}
