// The end of a process: what is said first, what is still answered, and what a second signal does.

import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct DrainTests {
  private static let patience = "defaults: {timeouts: {request_head: 60s}}"

  @Test func `readiness goes first, connections are taken for the delay, and a second signal ends at once`()
    async throws
  {
    let scene = try await ScriptedScene(top: "shutdown: {delay: 60s, limit: 90s}")
    async let slow = scene.proxy.get("/slow/50")
    #expect(try await eventually { !scene.upstream.requests.isEmpty })
    scene.proxy.process.send(SIGTERM)
    #expect(try await eventually { try await scene.proxy.admin("/readyz").status == 503 })
    #expect(try await scene.proxy.admin("/readyz").body == "draining\n")
    #expect(try await scene.proxy.admin("/healthz").status == 200)
    // A caller with a kept connection is told in time that it ends.
    let served = try await scene.proxy.get("/seen")
    #expect(served.status == 200 && served["connection"] == "close")
    #expect(try await scene.proxy.process.end(within: .seconds(10)) == 0)
    #expect(scene.proxy.process.errors.contains("ended at once"))
    #expect(try await slow.exit != 0)
  }

  @Test(arguments: ["shutdown: {grace: 60s, limit: 90s}", "shutdown: {grace: 60s, limit: 90s}\nloops: 3"])
  func `a request that comes when nothing is accepted any more is answered, as its connection's last`(_ top: String)
    async throws
  {
    let scene = try await ScriptedScene(top: top)
    let request = "GET /seen HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    var connections: [RawConnection] = []
    for _ in 1...8 {
      let connection = try scene.proxy.connect()
      try await connection.send(request)
      #expect(statusOf(try await connection.receive { $0.contains("traceparent") }) == 200)
      connections.append(connection)
    }
    scene.proxy.process.send(SIGTERM)
    #expect(try await eventually { !accepts(scene.proxy.port) })
    for connection in connections {
      try await connection.send(request)
      // The rest of the former answer comes before it.
      let answer = try await connection.receive()
      #expect(answer.contains("HTTP/1.1 200 OK\r\n") && answer.contains("Connection: close\r\n"))
    }
    // Nothing is waited for when the last of them has been answered.
    #expect(try await scene.proxy.process.wait(within: .seconds(30)) == 0)
    #expect(scene.proxy.process.errors.contains(#""connections_cut_off":0"#))
  }

  @Test func `a listener that a reload takes away answers what was on its way, and its address is free again`()
    async throws
  {
    let scene = try await ScriptedScene(
      top: "shutdown: {grace: 60s, limit: 90s}", listener: "}\n  - {address: \"127.0.0.1:PORT2\"")
    let (proxy, second) = (scene.proxy, scene.proxy.ports[1])
    let listener = "  - {address: \"127.0.0.1:\(second)\"}\n"
    let request = "GET /seen HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    let idle = try RawConnection(port: second)
    try await idle.send(request)
    #expect(statusOf(try await idle.receive { $0.contains("traceparent") }) == 200)
    try proxy.reconfigure { $0.replacing(listener, with: "") }
    #expect(try await eventually { proxy.process.errors.contains(#""generation":2"#) })
    #expect(!accepts(second))
    try await idle.send(request)
    let answer = try await idle.receive()
    #expect(answer.contains("HTTP/1.1 200 OK\r\n") && answer.contains("Connection: close\r\n"))
    try proxy.reconfigure { $0.replacing("routes:", with: listener + "routes:") }
    #expect(try await eventually { proxy.process.errors.contains(#""generation":3"#) })
    #expect(try await curl(["http://127.0.0.1:\(second)/seen"]).status == 200)
  }

  @Test func `a signal right after the address is taken loses no caller`() async throws {
    let directory = try TemporaryDirectory()
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    for _ in 1...5 {
      let port = try freePort()
      let configuration = try directory.write(
        """
        listeners: [{address: "127.0.0.1:\(port)"}]
        routes: [{name: all, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}]
        """, to: "early.yaml")
      let proxy = try ChildProcess("early", [binary(), "run", "-c", configuration], in: directory)
      let answer = try await python(
        """
        import os, signal, socket, sys
        while True:
            try:
                caller = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 60)
                break
            except ConnectionRefusedError:
                pass
        os.kill(int(sys.argv[2]), signal.SIGTERM)
        caller.sendall(b"GET /seen HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n")
        print(caller.recv(65536).decode())
        """, ["\(port)", "\(proxy.identifier)"])
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answer) \(proxy.errors)")
      #expect(try await proxy.wait(within: .seconds(60)) == 0)
    }
  }

  @Test(arguments: ["", "loops: 3\n"])
  func `TLS callers whom the kernel has queued when the process ends are answered`(_ top: String) async throws {
    let scene = try await SecureScene("\(top)shutdown: {grace: 60s, limit: 90s}\n\(Self.patience)")
    let (proxy, authority) = (scene.proxy, scene.authority)
    // The probe of the port has been accepted.
    #expect(try await eventually { queued(proxy.port) == 0 })
    try await proxy.process.standStill()
    let callers = 12
    let calls = (1...callers).map { "https://localhost:\(proxy.port)/seen?\($0)" }
    let client = try ChildProcess(
      "callers",
      [
        "curl", "-q", "-sS", "--ipv4", "--max-time", "120", "--cacert", authority.file, "--parallel",
        "--parallel-immediate", "--parallel-max", "\(callers)", "-w", "answered %{http_code}\\n",
      ] + calls.flatMap { ["-o", "/dev/null", $0] }, in: scene.directory)
    let areQueued = try await eventually { connected(proxy.port) == callers && queued(proxy.port) >= callers }
    #expect(areQueued, "\(connected(proxy.port)) connected, \(queued(proxy.port)) in the queue")
    proxy.process.send(SIGTERM)
    proxy.process.send(SIGCONT)
    #expect(try await client.wait(within: .seconds(120)) == 0, "\(client.errors)")
    #expect(client.output.split(separator: "\n") == Array(repeating: "answered 200", count: callers))
    #expect(try await proxy.process.wait(within: .seconds(60)) == 0)
    #expect(proxy.process.errors.contains(#""connections_cut_off":0"#))
  }

  @Test func `a TLS handshake that has begun when the process ends is finished, and its request answered`() async throws
  {
    let scene = try await SecureScene("shutdown: {grace: 1s, limit: 90s}\n\(Self.patience)")
    let (proxy, authority) = (scene.proxy, scene.authority)
    // Goes on when a connection that has begun nothing has ended, so that the grace is over for certain.
    let answer = try await python(
      """
      import os, signal, socket, ssl, sys, time
      port, process, authority = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
      silent = socket.create_connection(("127.0.0.1", port), 60)
      client = socket.create_connection(("127.0.0.1", port), 60)
      received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
      tls = ssl.create_default_context(cafile=authority).wrap_bio(received, sent, server_hostname="localhost")
      def step(action):
          while True:
              try:
                  return action()
              except ssl.SSLWantReadError:
                  client.sendall(sent.read())
                  received.write(client.recv(65536))
      try:
          tls.do_handshake()
      except ssl.SSLWantReadError:
          hello = sent.read()
      client.sendall(hello[:5])
      began = time.monotonic()
      os.kill(process, signal.SIGTERM)
      try:
          assert silent.recv(1) == b""
      except OSError as error:
          log = [open(f"/proc/{process}/fd/2").read()] if os.path.exists(f"/proc/{process}") else []
          sys.exit(f"{error} {time.monotonic() - began} s after the signal, {silent.getsockname()}, {log}")
      client.sendall(hello[5:])
      step(tls.do_handshake)
      tls.write(b"GET /seen HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
      print(step(lambda: tls.read(65536)).decode())
      """, ["\(proxy.port)", "\(proxy.process.identifier)", authority.file], within: .seconds(120))
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("Connection: close\r\n"))
    #expect(try await proxy.process.wait(within: .seconds(60)) == 0)
    #expect(proxy.process.errors.contains(#""connections_cut_off":0"#))
  }

  @Test func `a request to the admin listener ends the process as a signal does, and a signal after it is the first`()
    async throws
  {
    let scene = try await ScriptedScene()
    #expect(try await scene.proxy.admin("/quitquitquit").status == 405)
    let foreign = ["-X", "POST", "-H", "Origin: https://evil.example"]
    #expect(try await scene.proxy.admin("/quitquitquit", foreign).status == 403)
    #expect(try await scene.proxy.admin("/readyz").status == 200)
    async let slow = scene.proxy.get("/slow/4")
    #expect(try await eventually { !scene.upstream.requests.isEmpty })
    #expect(try await scene.proxy.admin("/quitquitquit", ["-X", "POST"]).status == 200)
    #expect(try await eventually { try await scene.proxy.admin("/readyz").status == 503 })
    // The end of a pod: a hook, then the kubelet's signal.
    scene.proxy.process.send(SIGTERM)
    #expect(try await slow.status == 200)
    #expect(try await scene.proxy.process.wait() == 0)
    #expect(!scene.proxy.process.errors.contains("ended at once"))
  }
}

/// The number of connections to a port of 127.0.0.1 that the kernel has made and its listener has not accepted.
private func queued(_ port: Int) -> Int {
  // Of a listening socket (state 0A) the receive queue is the accept queue.
  kernelSockets { $0[1] == kernelAddress(port) && $0[3] == "0A" }.reduce(0) { sum, columns in
    sum + (columns[4].split(separator: ":").last.flatMap { Int($0, radix: 16) } ?? 0)
  }
}

/// The number of callers that are connected to a port of 127.0.0.1, at their end. A probe of the port
/// and left may enter the accept queue late; it is not among these.
private func connected(_ port: Int) -> Int {
  kernelSockets { $0[2] == kernelAddress(port) && $0[3] == "01" }.count
}
