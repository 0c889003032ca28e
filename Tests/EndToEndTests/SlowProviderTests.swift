// A provider that takes longer than callers wait: what it answers in the end is kept, and other routes do not feel it.

import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(3)))
struct SlowProviderTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// A provider whose refresh tokens are good for one use, and a proxy at which Ann is signed in.
  private func signedIn(expiresIn seconds: Int) async throws -> (OpenIDProvider, ProxyUnderTest, configuration: String)
  {
    let provider = try await OpenIDProvider(OpenIDProvider.desk + ["--expires-in", "\(seconds)"])
    let configuration = annsConfiguration(provider.issuer, cache: directory.file("cache.json"))
    let proxy = try await ProxyUnderTest(in: directory, configuration)
    try await proxy.signIn(["--application", "desk"], OpenIDProvider.ann())
    #expect(try await eventually { try await proxy.get("/hers/whoami").status == 200 })
    return (provider, proxy, configuration)
  }

  @Test func `a process that ends during a renewal behind its callers waits for what it brings`() async throws {
    let (provider, proxy, configuration) = try await signedIn(expiresIn: 8)
    let asked = try await provider.requests(to: "token")
    try await provider.behave(#"{"delay": 5, "endpoint": "token", "times": 1}"#)
    #expect(
      try await eventually {
        let status = try await proxy.get("/hers/whoami").status
        return try await provider.requests(to: "token") == asked + 1 && status == 200
      })
    let rotated = try await provider.requests(to: "rotated")
    #expect(try await proxy.process.end(within: .seconds(40)) == 0)
    #expect(try await provider.requests(to: "rotated") == rotated + 1)
    let successor = try await ProxyUnderTest(in: try TemporaryDirectory(), configuration)
    #expect(try await eventually { try await successor.get("/hers/whoami").status == 200 })
    #expect(try await provider.requests(to: "reused") == 0)
  }

  @Test func `connections with HTTP 2 whose streams all wait for a slow provider make room, and others do not`()
    async throws
  {
    let provider = try await OpenIDProvider(in: directory)
    try await provider.behave(#"{"delay": 40, "endpoint": "token"}"#)
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let proxy = try await ProxyUnderTest(
      in: directory,
      "limits: {connections: 19}\n" + ProviderScene.configuration(provider.issuer, upstream))
    // The probe of the port has left its place.
    #expect(
      try await eventually {
        let accepted = try await metricSum(proxy, "bearer_proxy_connections_accepted_total ")
        let open = try await metricSum(proxy, "bearer_proxy_connections_open ")
        return accepted == 1 && open == 0
      })
    // The first five have a stream beside it that an upstream serves. All 19 places are taken before callers of another
    // route ask for one, at once: those that wait for a token are told after ten seconds that the provider is slow.
    let script = """
      import http.client, re
      def get(port, path):
          connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
          connection.request("GET", path)
          answer = connection.getresponse()
          text = answer.read().decode()
          connection.close()
          return answer.status, text
      callers = []
      for number in range(14):
          caller = Connection(int(sys.argv[1]))
          caller.send(headers(1, fields(path="/orders/seen")))
          if number < 5: caller.send(headers(3, fields(path="/open/slow/12")))
          callers.append(caller)
      for _ in range(6000):
          if re.search("^bearer_proxy_http2_streams_open 19$", get(sys.argv[2], "/metrics")[1], re.M): break
          time.sleep(0.01)
      print(*[get(sys.argv[1], "/open/seen")[0] for _ in range(5)], sep=",")
      for number, caller in enumerate(callers):
          seen = []
          for frame in caller.frames(time.monotonic() + 60):
              if frame is None: break
              if isinstance(frame, frames.HeadersFrame):
                  seen.append(dict(caller.decoder.decode(frame.data))[":status"])
              if isinstance(frame, frames.GoAwayFrame): seen.append("goaway")
              # A caller that makes room is told so before it is answered.
              if "503" in seen and (number >= 5 or "200" in seen): break
          print(*seen, sep=",")
      """
    let output = try await succeed(
      http2Script(script, ["\(proxy.port)", "\(proxy.adminPort)"]), within: .seconds(120))
    let lines = output.split(separator: "\n").map(String.init)
    #expect(lines.first == "200,200,200,200,200", "\(lines)")
    let ends = lines.dropFirst()
    #expect(ends.prefix(5).allSatisfy { ["503,200", "200,503"].contains($0) }, "\(ends)")
    #expect(ends.dropFirst(5).contains("goaway,503"), "\(ends)")
  }
}
