// The control of a running proxy through its admin listener, and its probes.

import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(2)))
struct ControlTests {
  private static let routes = "routes: [{name: r, path: /, upstream: \"http://127.0.0.1:1/\", token: none}]\n"
  private static let control = [
    ["-X", "POST", "/quitquitquit"], ["-X", "POST", "/log?level=debug"], ["/log"], ["/config"], ["/nothing"],
  ]

  /// Starts a proxy with this admin section, and waits until `probe` (arguments of curl's) is answered.
  private func proxy(
    _ directory: TemporaryDirectory, admin: String, launcher: [String] = [], probe: [String], _ rest: String = routes
  ) async throws -> ChildProcess {
    let file = try directory.write("listeners: [{address: 127.0.0.1:0}]\nadmin: \(admin)\n" + rest, to: "control.yaml")
    chmod(file, 0o600)
    if !launcher.isEmpty { chown(file, 65534, 65534) }
    let program = launcher.isEmpty ? try binary() : try await publicBinary(in: directory)
    let process = try ChildProcess("bearer-proxy", launcher + [program, "run", "-c", file], in: directory)
    let isUp = try await eventually { try await curl(probe).status == 200 }
    guard isUp else { throw TestSupportError("no answer: \(process.errors)") }
    return process
  }

  @Test func `a caller without a right to control gets probes and status, and changes nothing`() async throws {
    let directory = try TemporaryDirectory()
    let origin = "http://127.0.0.1:\(try freePort())"
    let process = try await proxy(
      directory, admin: "{address: \"\(origin.dropFirst(7))\"}", probe: [origin + "/healthz"])
    for words in Self.control {
      let answer = try await curl(words.dropLast() + [origin + (words.last ?? "")])
      #expect(answer.status == 403 && answer.body.hasPrefix("/healthz, /readyz, /metrics and /status are open to this"))
    }
    for path in ["/healthz", "/readyz", "/metrics", "/status"] {
      #expect(try await curl([origin + path]).status == 200, "\(path)")
    }
    #expect(process.poll() == nil && !process.errors.contains("log level changed"))
  }

  @Test func `a caller that keeps the rule controls, and a new secret counts from the next request on`() async throws {
    let directory = try TemporaryDirectory()
    let origin = "http://127.0.0.1:\(try freePort())"
    let (first, second) = ("the-first-of-two-secrets", "the-second-of-two-secrets")
    for secret in [first, second] { ProxyLedger.current?.add(secret: secret) }
    chmod(try directory.write(first, to: "key"), 0o600)
    let process = try await proxy(
      directory,
      admin: "{address: \"\(origin.dropFirst(7))\", callers: {header: {name: X-Admin-Key, value_file: key}}}",
      probe: [origin + "/healthz"])
    func config(_ key: String) async throws -> Int {
      try await curl(["-H", "X-Admin-Key: \(key)", origin + "/config"]).status
    }
    #expect(try await config(first) == 200)
    #expect(try await config(second) == 403)
    #expect(try await curl([origin + "/metrics"]).status == 200)
    try directory.write(second, to: "key")
    #expect(try await eventually { try await config(second) == 200 })
    #expect(try await config(first) == 403)
    #expect(try await curl(["-X", "POST", origin + "/quitquitquit"]).status == 403)
    #expect(try await curl(["-X", "POST", "-H", "X-Admin-Key: \(second)", origin + "/quitquitquit"]).status == 200)
    #expect(try await process.wait() == 0)
  }

  @Test(.enabled(if: otherMachineAddress != nil, "not run: this machine has no address beside loopback"))
  func `another machine gets probes if anyone may call, and never control`() async throws {
    let directory = try TemporaryDirectory()
    let port = try freePort()
    let there = "http://\(try #require(otherMachineAddress)):\(port)"
    let open = try await proxy(
      directory, admin: "{address: \"0.0.0.0:\(port)\", callers: {anyone: true}}", probe: [there + "/healthz"])
    for words in Self.control + [["/status"]] {
      let answer = try await curl(words.dropLast() + [there + (words.last ?? "")])
      #expect(answer.status == 403 && answer.body.hasPrefix("/healthz, /readyz and /metrics are open to this caller"))
    }
    #expect(try await curl([there + "/readyz"]).body == "ready\n")
    // A process beside the proxy, such as `kubectl exec … status`, is on its own machine.
    let status = try await run([binary(), "status", "-c", directory.file("control.yaml")])
    #expect(status.status == 0 && status.output.hasPrefix("ready: bearer-proxy "))
    try await open.stop()
    let key = "the-only-secret-of-this-test"
    let ruled = try await proxy(
      directory, admin: "{address: \"0.0.0.0:\(port)\", callers: {header: {name: X-Admin-Key, value: \(key)}}}",
      probe: ["-H", "X-Admin-Key: \(key)", there + "/healthz"])
    #expect(try await curl([there + "/healthz"]).status == 403)
    #expect(try await curl(["-H", "X-Admin-Key: \(key)", there + "/config"]).status == 200)
    try await ruled.stop()
  }

  @Test(.enabled(if: geteuid() == 0, "not run: takes root, to be other users"))
  func `at a unix socket the proxy's own user and root control, and another user does not`() async throws {
    let directory = try TemporaryDirectory()
    mkdir(directory.file("run"), 0o755)
    chown(directory.file("run"), 65534, 65534)
    let socket = directory.file("run/admin.sock")
    func user(_ id: Int) -> [String] { ["setpriv", "--reuid", "\(id)", "--regid", "\(id)", "--clear-groups"] }
    func ask(_ id: Int, _ words: [String]) async throws -> String {
      let path = "http://localhost" + (words.last ?? "")
      let arguments = ["curl", "-q", "-s", "-m", "20", "-w", "\n%{http_code}", "--unix-socket", socket]
      return try await succeed(user(id) + arguments + words.dropLast() + [path])
    }
    let process = try await proxy(
      directory, admin: "{address: \"unix:\(socket)\"}", launcher: user(65534),
      probe: ["--unix-socket", socket, "http://localhost/healthz"])
    // As open as a socket can be: whom it lets in is not whom it obeys.
    chmod(socket, 0o777)
    for words in Self.control {
      #expect(try await ask(65533, words).hasSuffix("\n403"))
    }
    #expect(try await ask(65533, ["/healthz"]).hasSuffix("\n200"))
    #expect(process.poll() == nil)
    for id in [65534, 0] { #expect(try await ask(id, ["/config"]).hasSuffix("\n200")) }
    #expect(try await ask(0, ["-X", "POST", "/quitquitquit"]).hasSuffix("\n200"))
    #expect(try await process.wait() == 0)
  }
}

/// An address of this machine by which other machines reach it; nil if it has none.
private let otherMachineAddress: String? = {
  var first: UnsafeMutablePointer<ifaddrs>?
  guard getifaddrs(&first) == 0 else { return nil }
  defer { freeifaddrs(first) }
  var next = first
  while let entry = next {
    defer { next = entry.pointee.ifa_next }
    guard let address = entry.pointee.ifa_addr, Int32(address.pointee.sa_family) == AF_INET,
      entry.pointee.ifa_flags & UInt32(IFF_LOOPBACK) == 0
    else { continue }
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    if getnameinfo(address, size, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 {
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }
  return nil
}()
