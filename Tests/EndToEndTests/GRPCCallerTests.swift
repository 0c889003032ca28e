// Callers that speak gRPC: what grpcio reads in the proxy's own answers, and the end of a call's time.

import Platform
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct GRPCCallerTests {
  /// A proxy whose routes fail, each in a way of its own.
  private struct Stage {
    let api: DemandingAPI
    let upstream: PythonPeer
    let proxy: ProxyUnderTest

    /// - Parameter away: the port of a provider that gives no token; nil: it refuses connections.
    init(away: Int? = nil) async throws {
      api = try DemandingAPI()
      upstream = try await PythonPeer("scripted_upstream.py")
      // No program of a user listens there.
      let closed = "http://127.0.0.1:1"
      let secret = #"client_id: 00000000-0000-0000-0000-000000000000, client_secret: "a-secret""#
      proxy = try await ProxyUnderTest(
        """
        applications:
          here: {authority: "\(api.issuer)", \(secret)}
          away: {authority: "\(away.map { "http://127.0.0.1:\($0)" } ?? closed)", \(secret)}
        defaults: {timeouts: {connect: 20s}}
        routes:
          - {name: person, path: /a.Person/, upstream: "\(api.upstream)/", application: here, token: {scopes: [a]}}
          - {name: away, path: /a.Away/, upstream: "\(api.upstream)/", application: away,
             token: {as: application, scopes: ["api://orders/.default"]}}
          - {name: closed, path: /a.Closed/, upstream: "\(closed)/", token: none}
          - {name: mute, path: /mute/, upstream: "http://127.0.0.1:\(upstream.port)/mute/", token: none}
          - {name: get, path: /a.Get/, methods: [GET], upstream: "\(api.upstream)/", token: none}
          - {name: plain, path: /plain/, upstream: "\(closed)/", token: none}
        """)
    }

    /// The frames that follow a request with these fields, as a line for each head.
    func frames(_ path: String, _ fields: String) async throws -> String {
      let script = """
        connection = Connection(int(sys.argv[1]))
        more = [("content-type", "application/grpc"), ("te", "trailers")] + eval(sys.argv[3])
        connection.send(headers(1, fields("POST", sys.argv[2], more), 4))
        for frame in connection.frames(time.monotonic() + 120):
            if frame is None: break
            if isinstance(frame, frames.HeadersFrame):
                print(sorted(connection.decoder.decode(frame.data)), sorted(frame.flags))
                break
        """
      return try await succeed(http2Script(script, ["\(proxy.port)", path, fields]), within: .seconds(180))
    }
  }

  @Test func `grpcio reads the proxy's own answers as statuses, with the challenge`() async throws {
    let stage = try await Stage()
    let told = try await succeed(
      peer(
        "grpc_peer.py",
        [
          "fail", "127.0.0.1:\(stage.proxy.port)", "/a.Person/Get", "/a.Away/Get", "/a.Closed/Get", "/a.Get/Get",
          "/no.Route/Get",
        ]), within: .seconds(240))
    let lines = told.split(separator: "\n").map(String.init)
    let expected = [
      ("/a.Person/Get", "UNAUTHENTICATED | Sign-in needed: ", "| Bearer realm="),
      ("/a.Away/Get", "UNAVAILABLE | Identity provider unavailable: ", "| -"),
      ("/a.Closed/Get", "UNAVAILABLE | Upstream unreachable: ", "| -"),
      ("/a.Get/Get", "UNIMPLEMENTED | Method not allowed: ", "| -"),
      ("/no.Route/Get", "UNIMPLEMENTED | No route: ", "| -"),
    ]
    #expect(lines.count == 2 * expected.count, "\(told)")
    for (index, line) in lines.enumerated() where index / 2 < expected.count {
      let (method, status, challenge) = expected[index / 2]
      #expect(line.hasPrefix("\(method) | \(index % 2 == 0 ? "unary" : "stream") | \(status)"), "\(line)")
      #expect(line.contains(challenge), "\(line)")
    }
    // Records and metrics keep the status that the answer would have elsewhere.
    #expect(try await eventually { stage.proxy.process.output.contains(#""status":401"#) })
    #expect(try await metricSum(stage.proxy, "bearer_proxy_responses_total", #"code="404""#) == 2)
  }

  @Test func `an answer of the proxy's own to a call is one head, and to other requests a document`() async throws {
    let stage = try await Stage()
    let frames = try await stage.frames("/a.Closed/Get", "[]")
    #expect(frames.contains("('content-type', 'application/grpc')") && frames.contains("('grpc-status', '14')"))
    #expect(frames.contains("(':status', '200')") && frames.contains("END_STREAM"), "\(frames)")
    for fields in [["-H", "Content-Type: application/grpc-web"], ["-H", "Content-Type: application/json"]] {
      let answer = try await stage.proxy.get("/plain/x", ["--http2-prior-knowledge", "-X", "POST"] + fields)
      #expect(answer.status == 502 && answer["content-type"] == "application/problem+json", "\(answer)")
    }
    let old = try await stage.proxy.get("/plain/x", ["-d", "x", "-H", "Content-Type: application/grpc"])
    #expect(old.status == 502 && old["content-type"] == "application/problem+json")
  }

  @Test(
    arguments: [
      // The upstream is silent for a minute.
      ("/mute/60", "[('grpc-timeout', '300m')]", "4"), ("/mute/60", "[('grpc-timeout', '0n')]", "4"),
      // It has another form.
      ("/mute/60", "[('grpc-timeout', '1s')]", "13"),
      ("/mute/60", "[('grpc-timeout', '1S'), ('grpc-timeout', '1S')]", "13"),
    ])
  func `a call ends with its time, and one whose time is not clear is refused`(
    path: String, fields: String, code: String
  ) async throws {
    let stage = try await Stage()
    let frames = try await stage.frames(path, fields)
    #expect(frames.contains("('grpc-status', '\(code)')"), "\(frames)")
    #expect(frames.contains("END_STREAM"))
  }

  @Test func `a call's time ends its wait for a token`() async throws {
    // It takes the request for its metadata, and is silent.
    let provider = try LoopServer { stream, _ in _ = await stream.receiveAll(1_000_000) }
    let stage = try await Stage(away: provider.port)
    let frames = try await stage.frames("/a.Away/Get", "[('grpc-timeout', '200m')]")
    #expect(frames.contains("('grpc-status', '4')"), "\(frames)")
  }
}
