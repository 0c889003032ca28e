// Calls of grpcio and grpclib through the proxy to servers of either.

import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(10)))
struct GRPCServerTests {
  private static let implementations = ["grpc_peer.py", "grpclib_peer.py"]

  /// A server, and a proxy in front of all its methods.
  private struct Stage {
    let server: PythonPeer
    let proxy: ProxyUnderTest

    init(_ server: [String], token: String = "none", top: String = "") async throws {
      self.server = try await PythonPeer(server[0], Array(server[1...]))
      proxy = try await ProxyUnderTest(
        """
        \(top)
        routes:
          - {name: all, path: /, upstream: "http://127.0.0.1:\(self.server.port)/", protocol: http2, token: \(token)}
        """)
    }

    /// The line of JSON of a client's script.
    func told(_ script: String, _ command: String) async throws -> String {
      try await succeed(
        peer(script, [command, "127.0.0.1:\(proxy.port)"]),
        within: .seconds(240))
    }
  }

  @Test(arguments: implementations, implementations)
  func `calls of every kind reach their server, and come back whole`(client: String, server: String) async throws {
    let stage = try await Stage([server, "serve"], token: "{header: authorization, value: \"Key of-the-route\"}")
    let told = try await stage.told(client, "calls")
    // grpclib's server names no content type there, and its client finds that wrong without a proxy, too.
    let unknown = client == "grpclib_peer.py" && server == client ? "UNKNOWN" : "UNIMPLEMENTED"
    for expected in [
      #""get": "Key of-the-route message""#, #""trailers": "1""#, #""many": true"#, #""large": true"#,
      #""count": true"#, #""list": true"#, #""echo 19"]"#, #""chat_end": ["ABORTED", "enough: \u00fc"]"#,
      #""fail": ["NOT_FOUND", "no such order", "because"]"#, "\"unknown\": \"\(unknown)\"", #""after": "again""#,
    ] { #expect(told.contains(expected), "\(expected): \(told)") }
  }

  @Test func `a proxy that drains ends a stream in order, and a channel's next calls go to another proxy`() async throws
  {
    let stage = try await Stage(
      ["grpc_peer.py", "serve"], token: "{header: authorization, value: \"Key of-the-first\"}",
      top: "shutdown: {limit: 4m}")
    let other = try await Stage(
      ["grpc_peer.py", "serve"], token: "{header: authorization, value: \"Key of-the-other\"}")
    let told = try await succeed(
      peer(
        "grpc_peer.py",
        [
          "drain", "127.0.0.1:\(stage.proxy.port)", "127.0.0.1:\(other.proxy.port)",
          "\(stage.proxy.process.identifier)",
        ]), within: .seconds(240))
    #expect(told.contains(#""chat": ["echo before", "echo after", "echo last"]"#), "\(told)")
    #expect(told.contains(#""rest": [], "code": "OK""#), "\(told)")
    #expect(told.contains(#""calls": ["Key of-the-first message", "Key of-the-other message"]"#), "\(told)")
    #expect(try await stage.proxy.process.wait(within: .seconds(60)) == 0)
  }

  @Test func `health and reflection are calls like others`() async throws {
    let told = try await Stage(["grpc_peer.py", "described"]).told("grpc_peer.py", "ask")
    for expected in [
      #""check": "SERVING""#, #""watch": "SERVING""#, #""grpc.health.v1.Health""#, #""methods": ["Check","#,
    ] { #expect(told.contains(expected), "\(expected): \(told)") }
  }

  @Test func `gRPC-Web passes as it came, with its trailers in the content`() async throws {
    let scene = try await ScriptedScene()
    let proxy = scene.proxy
    let kind = "application/grpc-web-text"
    for version in ["--http1.1", "--http2-prior-knowledge"] {
      let call = [version, "-H", "Content-Type: \(kind)", "-H", "X-Grpc-Web: 1", "-d", "AAAAAAA="]
      let seen = try await proxy.get("/seen", call)
      #expect(seen.body.lowercased().contains("content-type: \(kind)\r\n"), "\(seen)")
      #expect(seen.body.lowercased().contains("x-grpc-web: 1\r\n"), "\(seen)")
      // A frame of trailers, "grpc-status: 5", in Base64.
      let answer = try await proxy.get("/fields?content-type=\(kind)&content=gAAAAA5ncnBjLXN0YXR1czo1", call)
      #expect(answer.status == 200 && answer["content-type"] == kind, "\(answer)")
      #expect(answer.body == "gAAAAA5ncnBjLXN0YXR1czo1")
    }
  }

  @Test func `a token that a server refuses is replaced, and the call is made once more`() async throws {
    let provider = try DemandingAPI()
    let stage = try await Stage(
      ["grpc_peer.py", "serve", "refuse"],
      token: "{as: application, scopes: [\"api://orders/.default\"]}, application: contoso",
      top: """
        applications:
          contoso: {authority: "\(provider.issuer)", client_id: orders, client_secret: s3cret-of-the-test}
        """)
    let told = try await stage.told("grpc_peer.py", "calls")
    #expect(told.contains(#""get": "Bearer plain.2. message""#) && told.contains(#""many": true"#), "\(told)")
    #expect(try await eventually { stage.proxy.process.output.contains(#""challenge_outcome":"replayed""#) })
  }
}
