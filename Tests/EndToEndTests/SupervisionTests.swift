// A proxy and its service manager: systemd's protocol, without systemd.

import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct SupervisionTests {
  private static let routes = "routes: [{name: r, path: /, upstream: \"http://127.0.0.1:1/\", token: none}]\n"

  @Test(arguments: [true, false])
  func `the service manager hears of the start, of reloads and of the end`(isAbstract: Bool) async throws {
    let directory = try TemporaryDirectory()
    let manager = try ServiceManagerSocket(isAbstract ? "@\(directory.path)" : directory.file("notify"))
    let proxy = try await ProxyUnderTest(
      in: directory, environment: ["NOTIFY_SOCKET": manager.name], Self.routes)
    let started = try #require(try await manager.next())
    #expect(started["READY"] == "1" && started["STATUS"] == "serving")
    #expect(started["WATCHDOG"] == nil)
    let before = monotonicMicroseconds()
    proxy.process.send(SIGHUP)
    let reloading = try #require(try await manager.next())
    #expect(reloading["RELOADING"] == "1")
    let instant = try #require(reloading["MONOTONIC_USEC"].flatMap { Int($0) })
    #expect((before...monotonicMicroseconds()).contains(instant))
    let reloaded = try #require(try await manager.next())
    #expect(reloaded["READY"] == "1" && reloaded["STATUS"] == "serving, configuration 2")
    try proxy.reconfigure { $0.replacing("token:", with: "tokn:") }
    #expect(try await manager.next(saying: "RELOADING") != nil)
    #expect(
      try await manager.next()?["STATUS"] == "serving an older configuration: the file has mistakes")
    proxy.process.send(SIGTERM)
    #expect(try await manager.next()?["STOPPING"] == "1")
    #expect(try await proxy.process.wait() == 0)
  }

  /// Without the setpriority of CProgram, Dispatch gives the threads that it makes nice 0 or less if it may, and
  /// otherwise complains.
  @Test(arguments: getuid() == 0 ? [3, -3] : [3])
  func `all threads have the priority that the process was started with`(_ nice: Int) async throws {
    let proxy = try await ProxyUnderTest(
      launcher: ["/usr/bin/nice", "-n", "\(nice)"],
      """
      loops: 2
      routes: [{name: all, path: /, upstream: "http://127.0.0.1:\(try freePort())/", token: none}]
      """)
    for _ in 1...8 { #expect(try await proxy.get("/").status == 502) }
    let priorities = proxy.process.priorities
    let expected = Int(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)) + nice
    #expect(priorities.count >= 2 && priorities.allSatisfy { $0 == expected }, "\(priorities)")
  }

  @Test func `signs of life come as often as they are waited for`() async throws {
    let directory = try TemporaryDirectory()
    let manager = try ServiceManagerSocket(directory.file("notify"))
    let environment = ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "200000"]
    let proxy = try await ProxyUnderTest(in: directory, environment: environment, "loops: 3\n" + Self.routes)
    for _ in 1...3 { #expect(try await manager.next(saying: "WATCHDOG")?["WATCHDOG"] == "1") }
    try await proxy.process.stop()
    // Sockets for another process are not taken.
    let other = try ServiceManagerSocket(directory.file("other"))
    let silent = try await ProxyUnderTest(
      in: directory, environment: ["NOTIFY_SOCKET": other.name, "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"],
      Self.routes)
    #expect(try await other.next()?["READY"] == "1")
    silent.process.send(SIGTERM)
    #expect(try await other.next()?["STOPPING"] == "1")
  }

  /// Opens the sockets, gives them the descriptors of systemd's protocol, and becomes the program.
  private static let activator = """
    import os, socket, sys
    sockets = []
    for place in sys.argv[1].split(","):
        if place.startswith("/"):
            opened = socket.socket(socket.AF_UNIX)
            opened.bind(place)
        else:
            opened = socket.socket()
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind(("127.0.0.1", int(place)))
        opened.listen(16)
        sockets.append(opened)
    for index, opened in enumerate(sockets):
        os.dup2(opened.fileno(), 100 + index)
    for index in range(len(sockets)):
        os.dup2(100 + index, 3 + index)
        os.close(100 + index)
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(sockets)), LISTEN_FDNAMES=sys.argv[2])
    os.execv(sys.argv[3], sys.argv[3:])
    """

  @Test func `sockets that it was started with are served, kept through reloads, and left where they are`() async throws
  {
    let directory = try TemporaryDirectory()
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let (port, stray) = (try freePort(), try freePort())
    let path = directory.file("proxy.sock")
    let proxy = try await ProxyUnderTest(
      in: directory, port: port,
      launcher: [
        "/usr/bin/python3", "-c", Self.activator, "\(port),\(path),\(stray)", "proxy:local:stray",
      ],
      """
      loops: 2
      listeners:
        - address: 127.0.0.1:\(port)
        - address: unix:\(path)
      routes:
        - {name: all, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}
      """)
    // A second binding of the address would have failed: it is the one that was handed over.
    for _ in 1...8 { #expect(try await proxy.get("/seen").status == 200) }
    #expect(try await curl(["--unix-socket", path, "http://localhost/seen"]).status == 200)
    #expect(
      proxy.process.errors.contains(
        #""message":"an inherited socket is no listener of the "#
          + #"configuration","name":"stray","address":"127.0.0.1:\#(stray)""#
      ))
    #expect(!accepts(stray))
    proxy.process.send(SIGHUP)
    #expect(try await eventually { proxy.process.errors.contains(#""generation":2"#) })
    #expect(try await proxy.get("/seen").status == 200)
    try await proxy.process.stop()
    // The file is the service manager's.
    #expect(access(path, F_OK) == 0)
  }

  private func monotonicMicroseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
  }
}
