// A provider that takes longer than callers wait: what it answers in the end is kept, and other routes do not feel it.

import FoundationEssentials
import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(3)))
struct SlowProviderTests {
  private let directory: TemporaryDirectory
  private static let password = "kettle-harbour-7"

  init() throws { directory = try TemporaryDirectory() }

  /// A provider whose refresh tokens are good for one use, and a proxy at which Ann is signed in.
  private func signedIn(expiresIn seconds: Int) async throws -> (OpenIDProvider, ProxyUnderTest, configuration: String)
  {
    let provider = try await OpenIDProvider(
      in: directory,
      ["--client", "desk:", "--person", "ann@id.example:\(Self.password)", "--expires-in", "\(seconds)"])
    let configuration = """
      cache: {file: "\(directory.file("cache.json"))"}
      applications:
        desk: {authority: "\(provider.issuer)", client_id: desk}
      routes:
        - {name: desk, path: /desk/, upstream: "\(provider.issuer)/api/", application: desk,
           token: {account: ann@id.example, scopes: [orders.read]}}

      """
    let proxy = try await ProxyUnderTest(in: directory, configuration)
    let login = try await Login.run(
      proxy.configuration, ["--application", "desk"],
      person: SigningInPerson(user: "ann@id.example", password: Self.password), in: directory)
    #expect(login.status == 0, "\(login.errors)")
    #expect(try await eventually { try await proxy.get("/desk/whoami").status == 200 })
    return (provider, proxy, configuration)
  }

  @Test func `a process that ends during a renewal behind its callers waits for what it brings`() async throws {
    let (provider, proxy, configuration) = try await signedIn(expiresIn: 8)
    let asked = try await provider.requests(to: "token")
    try await provider.behave(#"{"delay": 5, "endpoint": "token", "times": 1}"#)
    #expect(
      try await eventually {
        let status = try await proxy.get("/desk/whoami").status
        return try await provider.requests(to: "token") == asked + 1 && status == 200
      })
    let rotated = try await provider.requests(to: "rotated")
    proxy.process.send(SIGTERM)
    #expect(try await proxy.process.wait(within: .seconds(40)) == 0)
    #expect(try await provider.requests(to: "rotated") == rotated + 1)
    let successor = try await ProxyUnderTest(in: try TemporaryDirectory(), configuration)
    #expect(try await eventually { try await successor.get("/desk/whoami").status == 200 })
    #expect(try await provider.requests(to: "reused") == 0)
  }

  /// Waits until the probe of the port has left its place.
  private func waitUntilEmpty(_ proxy: ProxyUnderTest) async throws {
    #expect(
      try await eventually {
        let accepted = try await metricSum(proxy, "bearer_proxy_connections_accepted_total ")
        let open = try await metricSum(proxy, "bearer_proxy_connections_open ")
        return accepted == 1 && open == 0
      })
  }

  @Test(arguments: [true, false])
  func `callers who wait for a slow provider, or waited and went away, keep no connection from another route`(
    _ areGone: Bool
  ) async throws {
    let provider = try await OpenIDProvider(in: directory)
    try await provider.behave(#"{"delay": 40, "endpoint": "token"}"#)
    let upstream = try await ScriptedUpstream(in: directory)
    let proxy = try await ProxyUnderTest(
      in: directory,
      "limits: {connections: 30}\n" + application(provider.issuer) + "routes:\n" + route("orders", to: upstream.port)
        + "  - {name: open, path: /open/, upstream: \"http://127.0.0.1:\(upstream.port)/\", token: none}\n")
    try await waitUntilEmpty(proxy)
    var callers: [RawConnection] = []
    for _ in 1...60 {
      let caller = try proxy.connect()
      try await caller.send("GET /orders/seen HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      if areGone { caller.finishSending() }
      callers.append(caller)
    }
    if areGone { callers = [] }
    // They would be told after ten seconds that the provider is slow, and only then be gone.
    let began = ContinuousClock.now
    for _ in 1...3 {
      let answer = try await proxy.get("/open/seen")
      #expect(answer.status == 200, "\(answer)")
    }
    #expect(ContinuousClock.now - began < .seconds(8))
    if areGone { return }
    // Each caller that was ended to make room got an answer.
    var answered = 0
    for caller in callers {
      var answer = ""
      // One that was let in late, perhaps in several goes, waits its ten seconds then. A closed connection has no more
      // to say at once.
      let asked = ContinuousClock.now
      for _ in 1...6 where answer.isEmpty { answer = try await caller.receive { $0.hasSuffix("}\n") } }
      if answer.isEmpty { answer = "nothing in \(ContinuousClock.now - asked)" }
      #expect(statusOf(answer) == 503 && answer.contains("identity-provider-unavailable"), "\(answer)")
      if answer.contains("Connection: close\r\n") { answered += 1 }
    }
    // One for each of the 30 that came later, and of the other route at most.
    #expect((30...33).contains(answered), "\(answered) made room")
  }

  @Test func `connections with HTTP 2 whose streams all wait for a slow provider make room, and others do not`()
    async throws
  {
    let provider = try await OpenIDProvider(in: directory)
    try await provider.behave(#"{"delay": 40, "endpoint": "token"}"#)
    let upstream = try await ScriptedUpstream(in: directory)
    let proxy = try await ProxyUnderTest(
      in: directory,
      "limits: {connections: 19}\n" + application(provider.issuer) + "routes:\n" + route("orders", to: upstream.port)
        + "  - {name: open, path: /open/, upstream: \"http://127.0.0.1:\(upstream.port)/\", token: none}\n")
    try await waitUntilEmpty(proxy)
    // The first five have a stream beside it that an upstream serves.
    let script = """
      import sys, time
      sys.path.insert(0, sys.argv[1])
      from http2_cases import *
      callers = []
      for number in range(14):
          caller = Connection(int(sys.argv[2]))
          caller.send(headers(1, fields(path="/orders/seen")))
          if number < 5: caller.send(headers(3, fields(path="/open/slow/12")))
          callers.append(caller)
      print("listening 1", flush=True)
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
    let callers = try ChildProcess(
      "callers", [pinnedPython(), "-c", script, testsDirectory + "/peers", "\(proxy.port)"], in: directory)
    _ = try await announcedPort(of: callers)
    // All 19 places are taken before another caller asks for one.
    #expect(
      try await eventually {
        let open = try await metricSum(proxy, "bearer_proxy_http2_streams_open ")
        return open == 19
      })
    let began = ContinuousClock.now
    for _ in 1...5 { #expect(try await proxy.get("/open/seen").status == 200) }
    #expect(ContinuousClock.now - began < .seconds(8))
    #expect(try await callers.wait(within: .seconds(120)) == 0)
    let ends = callers.output.split(separator: "\n").dropFirst().map(String.init)
    #expect(ends.prefix(5).allSatisfy { $0 == "503,200" }, "\(ends)")
    #expect(ends.dropFirst(5).contains("goaway,503"), "\(ends)")
  }
}
