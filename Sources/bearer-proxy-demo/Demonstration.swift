// The order of events: folder, services, proxies, tour, staying up, ending.

import Bytes
import DemoProvider
import FoundationEssentials
import Glibc
import Platform
import Synchronization

/// A failure that ends the demonstration.
enum DemonstrationError: Error {
  case folder(String)
  case services(DemoError)
  case start(program: String, SystemError)
  case port(SystemError)
  /// A proxy ended, or never became ready.
  case proxy(String, log: String)

  var message: String {
    switch self {
    case .folder(let path): "cannot write to \(path)"
    case .services(let error): "the sample services do not start: \(error)"
    case .start(let program, let error): "cannot start \(program): \(error)"
    case .port(let error): "no port is free: \(error)"
    case .proxy(let event, let log): "\(event); its log is \(log)"
    }
  }
}

/// Everything that runs.
final class Demonstration: Sendable {
  private let terminal: Terminal
  private let options: DemoOptions
  private let proxies = Locked<[String: ChildProcess]>([:])
  private let isEnding = Atomic(false)

  init(_ options: DemoOptions, _ terminal: Terminal) {
    self.options = options
    self.terminal = terminal
  }

  /// Runs to the end. Returns the process's exit status.
  func perform() throws(DemonstrationError) -> Int32 {
    let directory = try enterFolder()
    let log = ExchangeLog(terminal)
    terminal.line("bearer-proxy, demonstrated on this machine alone\n", .title)
    let services = try startServices(directory, log)
    let places = try startProxies(services, directory)
    introduce(services, places, log)
    var tour = Tour(terminal, places, log) { () throws(DemonstrationError) in
      self.proxies.withLock { $0["proxy"] }?.terminate()
      try self.start("proxy", directory, readiness: places.readiness)
    }
    try tour.walk()
    terminal.line()
    if tour.failures == 0 {
      terminal.line("All \(tour.steps) steps went as expected.", .good)
    } else {
      terminal.line("\(tour.failures) of \(tour.steps) steps did not go as expected.", .bad)
    }
    if !options.endsAfterTour {
      if tour.waitsForReader { _ = terminal.askForNext() }
      try stayUp(places, log)
    }
    let areEnded = end()
    if !areEnded { terminal.line("A proxy did not end in good order.", .bad) }
    return tour.failures == 0 && areEnded ? 0 : 1
  }

  /// Ends the proxies. Returns true if all ended in good order. May be called from any thread.
  @discardableResult
  func end() -> Bool {
    isEnding.store(true, ordering: .relaxed)
    return proxies.withLock { Array($0.values) }.map { $0.terminate() }.allSatisfy { $0 == 0 }
  }

  // MARK: Starting

  /// Makes the folder the current one, with a link to the proxy in it. Another demonstration's folder is left alone.
  private func enterFolder() throws(DemonstrationError) -> String {
    let proxyPath = options.proxyPath.map(Self.absolute) ?? Self.proxyBesideUs
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
      let logs = ["proxy.log", "gateway.log", "branch.log"]
      for name in [DemoPlaces.cache, DemoPlaces.cookies, DemoPlaces.program] + logs {
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

  /// Returns true if no other demonstration has the folder. The kernel unlocks it when this process ends.
  private static func lock(_ path: String) -> Bool {
    let descriptor = open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    return descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0
  }

  private static func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
  }

  private static var proxyBesideUs: String {
    let link = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    return link.deletingLastPathComponent().appending(path: "bearer-proxy").path
  }

  private func startServices(_ directory: String, _ log: ExchangeLog) throws(DemonstrationError) -> DemoServices {
    var settings = DemoSettings(directory: directory)
    settings.providerPort = 8443
    settings.apiPort = 8444
    settings.identityPort = 8445
    do throws(DemoError) {
      let services = try DemoServices(settings, log: log.append)
      say("the identity provider", settings.providerPort, services.providerOrigin)
      say("the sample API", settings.apiPort, services.apiOrigin)
      say("the machine's identity service", settings.identityPort, services.identityOrigin)
      // The platform of a machine with an identity tells the address of its service in this way.
      setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", services.identityOrigin, 1)
      return services
    } catch {
      throw .services(error)
    }
  }

  /// Reports a service that is not at its usual port.
  private func say(_ name: String, _ usual: UInt16, _ origin: String) {
    guard !origin.hasSuffix(":\(usual)") else { return }
    terminal.line("Port \(usual) is in use: \(name) is at \(origin).")
  }

  /// Starts the two proxies that call on in their callers' names, from the last to the first, then the one before them.
  private func startProxies(_ services: DemoServices, _ directory: String) throws(DemonstrationError) -> DemoPlaces {
    typealias Sample = DemoDirectory.Sample
    var upstream = "\(services.apiOrigin)/api/"
    for (name, client, scope) in [
      ("branch", Sample.branch, "\(Sample.ordersURI)/Orders.Read"),
      ("gateway", Sample.gateway, "\(Sample.branchURI)/Branch.Access"),
    ] {
      try write(
        hopConfiguration(name, client: client, scope: scope, upstream: upstream, issuer: services.issuer), name)
      upstream = "http://\(try start(name, directory))/"
    }
    var places = DemoPlaces(
      directory: directory, proxyPort: 8080, adminPort: 9901, gatewayOrigin: String(upstream.dropLast()),
      providerOrigin: services.providerOrigin, apiOrigin: services.apiOrigin, issuer: services.issuer)
    try write(demoProgram(places), as: "reports.sh")
    try write(UUID().uuidString, as: "reports-secret")
    // A port that was free a moment ago may be taken by the time the proxy asks for it.
    for isLastAttempt in [false, false, true] {
      (places.proxyPort, places.adminPort) = (try Self.freePort(places.proxyPort), try Self.freePort(places.adminPort))
      try write(demoConfiguration(places), "proxy")
      do throws(DemonstrationError) {
        try start("proxy", directory, readiness: places.readiness)
        break
      } catch {
        guard !isLastAttempt, textOfFile(DemoPlaces.log).contains("Address already in use") else { throw error }
      }
    }
    say("the proxy", 8080, places.proxyOrigin)
    say("the admin listener", 9901, places.adminOrigin)
    return places
  }

  private func write(_ configuration: String, _ name: String) throws(DemonstrationError) {
    try write(configuration, as: "\(name).yaml")
  }

  private func write(_ text: String, as file: String) throws(DemonstrationError) {
    let rights = [FileAttributeKey.posixPermissions: 0o600]
    guard FileManager.default.createFile(atPath: file, contents: Data(text.utf8), attributes: rights) else {
      throw .folder(file)
    }
  }

  /// `preferred`, or any other port if that is taken.
  private static func freePort(_ preferred: UInt16) throws(DemonstrationError) -> UInt16 {
    for port in [preferred, 0] {
      do throws(SystemError) {
        let sockets = try BoundSocket.bind(SocketAddress(.ipv4(0x7F00_0001, port: port)), count: 1)
        for socket in sockets { socket.close() }
        return sockets[0].address.port
      } catch {
        if port == 0 { throw .port(error) }
      }
    }
    return preferred
  }

  /// Starts the proxy `name` and waits until it serves and `readiness` responds with 200. Returns its address.
  @discardableResult
  private func start(
    _ name: String, _ directory: String, readiness: String? = nil
  ) throws(DemonstrationError) -> String {
    let log = open("\(name).log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard log >= 0 else { throw .folder("\(name).log") }
    defer { close(log) }
    let start = lseek(log, 0, SEEK_END)
    let child = try ChildProcess([DemoPlaces.program, "run", "-c", "\(name).yaml"], output: log)
    proxies.withLock { $0[name] = child }
    for _ in 0..<1500 where child.poll() == nil {
      let words = textOfFile("\(name).log").utf8.dropFirst(Int(start))
      if let address = String(decoding: words, as: UTF8.self).between(#""message":"serving","address":""#, "\"") {
        guard let readiness else { return address }
        if try CommandRun.run(["curl", "-sSi", readiness]).httpStatus == 200 { return address }
      }
      usleep(20_000)
    }
    child.terminate()
    terminal.indented(textOfFile("\(name).log").suffix(2000), .quiet)
    throw .proxy("bearer-proxy did not become ready", log: "\(directory)/\(name).log")
  }

  private func introduce(_ services: DemoServices, _ places: DemoPlaces, _ log: ExchangeLog) {
    terminal.line(
      """
        identity provider   \(places.providerOrigin)  (as Microsoft Entra, with sample users)
        sample API          \(places.apiOrigin)  (takes only that provider's tokens)
        identity service    \(services.identityOrigin)   (of a machine, as Azure's)
        bearer-proxy        \(places.proxyOrigin)   health and metrics: \(places.adminOrigin)

      All commands run in this folder, which has the configuration, the log and keys:

      """)
    terminal.command(["cd", places.directory])
    terminal.command([DemoPlaces.program, "run", "-c", "proxy.yaml"])
    let exchanges = log.take()
    if terminal.isVerbose {
      terminal.line()
      for exchange in exchanges { terminal.indented(exchange.line, .quiet) }
    }
    let count = exchanges.count(where: \.isToken)
    terminal.line("\nThe proxy is ready. It has requested a token for each of \(count) applications.", .good)
  }

  // MARK: Staying up

  private func stayUp(_ places: DemoPlaces, _ log: ExchangeLog) throws(DemonstrationError) {
    tryItYourself(places)
    terminal.flush()
    log.goLive()
    while let child = proxies.withLock({ $0["proxy"] }), child.poll() == nil { usleep(100_000) }
    // The signal's handler ends the process.
    while isEnding.load(ordering: .relaxed) { usleep(100_000) }
    throw .proxy("bearer-proxy ended by itself", log: "\(places.directory)/\(DemoPlaces.log)")
  }

  /// Calls that work as they are, from any folder, in this order.
  private func tryItYourself(_ places: DemoPlaces) {
    typealias Sample = DemoDirectory.Sample
    let program = "\(places.directory)/bearer-proxy"
    let configuration = ["-c", "\(places.directory)/proxy.yaml"]
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
        places.signIn("/my/orders/list"),
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
          ["curl", "--cacert", "\(places.directory)/\(DemoPlaces.authority)", "\(places.providerOrigin)/"],
        ]
      ),
    ] as [(String, String?, [[String]])] {
      terminal.line()
      terminal.wrapped(text, after: "  ")
      if let address { terminal.indented(address, .command) }
      for words in calls { terminal.command(words) }
    }
    terminal.line("\nCtrl-C ends it. Until then, this is what the provider and the API see:", .quiet)
  }
}
