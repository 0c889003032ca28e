// The order of events: folder, services, configuration, proxy, tour, staying up, ending.

import Bytes
import DemoProvider
import FoundationEssentials
import Glibc
import Platform
import Synchronization

/// Why the demonstration cannot go on.
enum DemonstrationError: Error {
  case folder(String)
  case services(DemoError)
  case spawn(SpawnError)
  case port(SystemError)
  /// The proxy ended, or never became ready; its log is in this file.
  case proxy(logPath: String, String)

  var message: String {
    switch self {
    case .folder(let path): "cannot write to \(path)"
    case .services(let error): "the sample services do not start: \(error)"
    case .spawn(let error): "cannot start \(error.program): \(error.reason)"
    case .port(let error): "no port is free: \(error)"
    case .proxy(let path, let what): "\(what); its log is \(path)"
    }
  }
}

/// Everything that runs.
final class Demonstration: Sendable {
  private let terminal: Terminal
  private let options: DemoOptions
  private let proxy = Locked<ChildProcess?>(nil)
  /// The proxies behind that one.
  private let hops = Locked<[ChildProcess]>([])
  private let isEnding = Atomic(false)

  init(_ options: DemoOptions, _ terminal: Terminal) {
    self.options = options
    self.terminal = terminal
  }

  /// Runs to the end; the process's exit status.
  func perform() throws(DemonstrationError) -> Int32 {
    let proxyPath = options.proxyPath.map(Self.absolute) ?? Self.proxyBesideUs
    let directory = try enterFolder(proxyPath)
    let log = ExchangeLog(terminal)
    terminal.line("bearer-proxy, demonstrated on this machine alone", .title)
    terminal.line()
    let services = try services(directory, log)
    let branch = try startHop(
      "branch", DemoDirectory.Sample.branch, "\(DemoDirectory.Sample.ordersURI)/Orders.Read",
      to: "\(services.apiOrigin)/api/", services, directory)
    let gateway = try startHop(
      "gateway", DemoDirectory.Sample.gateway, "\(DemoDirectory.Sample.branchURI)/Branch.Access", to: "\(branch)/",
      services, directory)
    let places = try startProxy(services, directory, gateway)
    introduce(services, places, log)

    var tour = Tour(terminal, places, services, log: log) { () throws(SpawnError) in
      self.proxy.withLock { $0 }?.terminate()
      return try self.becomesReady(places, log: .endOfFile(DemoPlaces.log))
    }
    do throws(SpawnError) {
      try tour.walk()
    } catch {
      throw .spawn(error)
    }
    terminal.line()
    if tour.failures == 0 {
      terminal.line("All \(tour.steps) steps went as expected.", .good)
    } else {
      terminal.line("\(tour.failures) of \(tour.steps) steps did not go as expected.", .bad)
    }
    if options.ending == .onInterrupt { try stayUp(services, places, log, tour.waitsForReader) }
    let stopped = end()
    if stopped != 0 {
      terminal.line("The proxy did not end in good order (\(stopped.map(String.init) ?? "killed")).", .bad)
    }
    return tour.failures == 0 && stopped == 0 ? 0 : 1
  }

  /// Ends the proxy; its exit status, nil where it had to be killed. From any thread.
  @discardableResult
  func end() -> Int32? {
    isEnding.store(true, ordering: .relaxed)
    let children = [proxy.withLock { $0 }].compactMap(\.self) + hops.withLock { $0 }
    var status: Int32? = 0
    for child in children {
      let ended = child.terminate()
      if status == 0 { status = ended }
    }
    return status
  }

  // MARK: Starting

  /// Makes the folder the current one, with a link to the proxy in it. Another demonstration's folder is left alone.
  private func enterFolder(_ proxyPath: String) throws(DemonstrationError) -> String {
    let temporary = FileManager.default.temporaryDirectory.path + "/bearer-proxy-demo-\(getpid())"
    var path = options.directory.map(Self.absolute) ?? temporary
    do {
      try makeFolder(path)
      if !Self.lock(path) {
        terminal.line("\(path) belongs to a demonstration that runs; this one's folder is \(temporary).")
        path = temporary
        try makeFolder(path)
      }
      guard FileManager.default.changeCurrentDirectoryPath(path) else { throw DemonstrationError.folder(path) }
      // Accounts of an earlier demonstration belong to a provider that is gone.
      for name in [DemoPlaces.cache, DemoPlaces.cookies, DemoPlaces.program] {
        guard unlink(name) == 0 || errno == ENOENT else { throw DemonstrationError.folder("\(path)/\(name)") }
      }
      try FileManager.default.createSymbolicLink(atPath: DemoPlaces.program, withDestinationPath: proxyPath)
    } catch {
      throw .folder(path)
    }
    return path
  }

  private func makeFolder(_ path: String) throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  /// Whether no other demonstration has the folder. The kernel gives up the lock when this process ends.
  private static func lock(_ path: String) -> Bool {
    let descriptor = open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    return descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0
  }

  private static func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
  }

  private func services(_ directory: String, _ log: ExchangeLog) throws(DemonstrationError) -> DemoServices {
    var settings = DemoSettings(directory: directory)
    settings.providerPort = 8443
    settings.apiPort = 8444
    settings.identityPort = 8445
    do throws(DemoError) {
      let services = try DemoServices(settings, log: log.append)
      say("the identity provider", settings.providerPort, services.providerOrigin)
      say("the sample API", settings.apiPort, services.apiOrigin)
      say("the machine's identity service", settings.identityPort, services.identityOrigin)
      // As the platform of a machine with an identity says where its service is.
      setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", services.identityOrigin, 1)
      return services
    } catch {
      throw .services(error)
    }
  }

  /// Says where a service is, if not at its usual port.
  private func say(_ name: String, _ usual: UInt16, _ origin: String) {
    guard !origin.hasSuffix(":\(usual)") else { return }
    terminal.line("Port \(usual) is in use: \(name) is at \(origin).")
  }

  /// `preferred`, or any other where that port is taken.
  private static func freePort(_ preferred: UInt16) throws(DemonstrationError) -> UInt16 {
    let loopback: UInt32 = 0x7F00_0001
    for port in [preferred, 0] {
      do throws(SystemError) {
        let sockets = try BoundSocket.bind(SocketAddress(.ipv4(loopback, port: port)), count: 1)
        for socket in sockets { socket.close() }
        return sockets[0].address.port
      } catch {
        if port == 0 { throw .port(error) }
      }
    }
    return preferred
  }

  private static var proxyBesideUs: String {
    do {
      return try URL(filePath: FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        .deletingLastPathComponent().appending(path: "bearer-proxy").path
    } catch {
      return URL(filePath: absolute(CommandLine.arguments[0])).deletingLastPathComponent()
        .appending(path: "bearer-proxy").path
    }
  }

  private func startHop(
    _ name: String, _ client: String, _ scope: String, to upstream: String, _ services: DemoServices,
    _ directory: String
  ) throws(DemonstrationError) -> String {
    let hop = DemoHop(name: name, client: client, scope: scope, upstream: upstream)
    guard let (child, origin) = try hop.start(issuer: services.issuer) else { throw isNotReady(hop.log, directory) }
    hops.withLock { $0.append(child) }
    return origin
  }

  /// Shows the last words of a proxy.
  private func isNotReady(_ log: String, _ directory: String) -> DemonstrationError {
    let words = FileManager.default.contents(atPath: log) ?? Data()
    terminal.indented(String(decoding: words.suffix(2000), as: UTF8.self), .quiet)
    return .proxy(logPath: "\(directory)/\(log)", "bearer-proxy did not become ready")
  }

  private func introduce(_ services: DemoServices, _ places: DemoPlaces, _ log: ExchangeLog) {
    terminal.line("  identity provider   \(services.providerOrigin)  (as Microsoft Entra, with sample users)")
    terminal.line("  sample API          \(services.apiOrigin)  (takes only that provider's tokens)")
    terminal.line("  identity service    \(services.identityOrigin)   (of a machine, as Azure's)")
    terminal.line("  bearer-proxy        \(places.proxyOrigin)   health and metrics: \(places.adminOrigin)")
    terminal.line()
    terminal.line("All commands run in this folder, which has the configuration, the log and keys:")
    terminal.line()
    terminal.command(["cd", places.directory])
    terminal.command([DemoPlaces.program, "run", "-c", DemoPlaces.configuration])
    let exchanges = log.take()
    if terminal.isVerbose {
      terminal.line()
      for exchange in exchanges { terminal.indented(exchange.line, .quiet) }
    }
    terminal.line()
    let count = exchanges.count { $0.path.hasSuffix("/token") && $0.status == 200 }
    terminal.line("The proxy is ready. It has requested a token for each of \(count) applications.", .good)
  }

  /// Writes the configuration and starts the proxy with it. A port that was free a moment ago may be taken by the time
  /// the proxy asks for it: then with other ports.
  private func startProxy(
    _ services: DemoServices, _ directory: String, _ gateway: String
  ) throws(DemonstrationError) -> DemoPlaces {
    var attempt = 1
    while true {
      let places = DemoPlaces(
        directory: directory, proxyPort: try Self.freePort(attempt == 1 ? 8080 : 0),
        adminPort: try Self.freePort(attempt == 1 ? 9901 : 0), gatewayOrigin: gateway)
      do {
        try Data(demoConfiguration(places, issuer: services.issuer, apiOrigin: services.apiOrigin).utf8)
          .write(to: URL(filePath: "\(directory)/\(DemoPlaces.configuration)"))
      } catch {
        throw .folder("\(directory)/\(DemoPlaces.configuration)")
      }
      let isReady: Bool
      do throws(SpawnError) {
        isReady = try becomesReady(places, log: .file(DemoPlaces.log))
      } catch {
        throw .spawn(error)
      }
      if isReady {
        say("the proxy", 8080, places.proxyOrigin)
        say("the admin listener", 9901, places.adminOrigin)
        return places
      }
      let log = FileManager.default.contents(atPath: DemoPlaces.log) ?? Data()
      let lastWords = String(decoding: log.suffix(2000), as: UTF8.self)
      guard lastWords.contains("Address already in use"), attempt < 3 else {
        throw isNotReady(DemoPlaces.log, directory)
      }
      attempt += 1
    }
  }

  /// Whether the proxy, started now, is ready within ten seconds.
  private func becomesReady(_ places: DemoPlaces, log: ChildOutput) throws(SpawnError) -> Bool {
    let child = try ChildProcess([DemoPlaces.program, "run", "-c", DemoPlaces.configuration], log)
    proxy.withLock { $0 = child }
    let probe = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "\(places.adminOrigin)/readyz"]
    for _ in 0..<500 where child.poll() == nil {
      // Another demonstration's proxy may answer at this address, while this one learns that its port is taken.
      let words = FileManager.default.contents(atPath: DemoPlaces.log) ?? Data()
      if String(decoding: words, as: UTF8.self).contains("serving"), try CommandRun.run(probe).text == "200" {
        return true
      }
      usleep(20_000)
    }
    child.terminate()
    return false
  }

  // MARK: Staying up

  private func stayUp(
    _ services: DemoServices, _ places: DemoPlaces, _ log: ExchangeLog, _ waits: Bool
  ) throws(DemonstrationError) {
    if waits { _ = terminal.askForNext() }
    tryItYourself(services, places)
    terminal.flush()
    log.goLive()
    while let child = proxy.withLock({ $0 }), child.poll() == nil { usleep(100_000) }
    // The signal's handler ends the process; here it only must not look like an accident.
    while isEnding.load(ordering: .relaxed) { usleep(100_000) }
    throw .proxy(logPath: "\(places.directory)/\(DemoPlaces.log)", "bearer-proxy ended by itself")
  }

  /// Calls that work as they are, from any folder, in this order.
  private func tryItYourself(_ services: DemoServices, _ places: DemoPlaces) {
    typealias Sample = DemoDirectory.Sample
    let program = "\(places.directory)/bearer-proxy"
    let configuration = ["-c", "\(places.directory)/\(DemoPlaces.configuration)"]
    terminal.line()
    terminal.line("Try it yourself, in another terminal", .title)
    for (text, address, calls) in [
      (
        "As an application; its events; as an application without rights (403):", nil,
        [
          ["curl", "-i", "\(places.proxyOrigin)/orders/list"],
          ["curl", "-N", "\(places.proxyOrigin)/orders/ticks?count=5&pause_ms=400"],
          ["curl", "-i", "\(places.proxyOrigin)/visitor/list"],
        ]
      ),
      (
        "As Alice: sign in at this address, or with the command. User \(Sample.alice), "
          + "password \(Sample.password). Browsers warn of the provider's certificate; continue.",
        places.signInAddress,
        [
          [program, "login"] + configuration + ["--route", "my-orders", "--device-code"],
          ["curl", "-i", "\(places.proxyOrigin)/my/orders/list"],
        ]
      ),
      (
        "The proxy's state and metrics; the provider's page with its users:", nil,
        [
          [program, "status"] + configuration,
          ["curl", "\(places.adminOrigin)/metrics"],
          ["curl", "--cacert", "\(places.directory)/\(DemoPlaces.authority)", "\(services.providerOrigin)/"],
        ]
      ),
    ] as [(String, String?, [[String]])] {
      terminal.line()
      terminal.wrapped(text, after: "  ")
      if let address { terminal.indented(address, .command) }
      for words in calls { terminal.command(words) }
    }
    terminal.line()
    terminal.line("Ctrl-C ends it. Until then, this is what the provider and the API see:", .quiet)
  }
}
