import Bytes
import DemoProvider
import FoundationEssentials
import Glibc
import Platform
import Synchronization

/// The order of events: folder, services, proxies, tour, staying up, ending.
final class Demonstration: Sendable {
  private let terminal: Terminal
  private let options: DemoOptions
  private let log: ExchangeLog
  private let proxies = Locked<[String: StartedProgram]>([:])
  private let isEnding = Atomic(false)

  init(_ options: DemoOptions, _ terminal: Terminal) {
    self.options = options
    self.terminal = terminal
    log = ExchangeLog(terminal)
  }

  /// Runs to the end. Returns the process's exit status.
  func perform() throws(DemonstrationError) -> Int32 {
    let directory = try enterFolder()
    terminal.line("bearer-proxy, demonstrated on this machine alone\n", .title)
    let services = try startServices(directory)
    let places = try startProxies(services, directory)
    introduce(places)
    var tour = Tour(
      terminal: terminal, places: places, log: log,
      restart: { () throws(DemonstrationError) in
        self.proxies.withLock { $0["proxy"] }?.terminate()
        try self.start("proxy", readiness: places.readiness)
      }, waitsForReader: terminal.waitsForReader)
    try tour.walk()
    let hasFailed = tour.failures > 0
    terminal.line(
      hasFailed
        ? "\n\(tour.failures) of \(tour.steps) steps did not go as expected."
        : "\nAll \(tour.steps) steps went as expected.", hasFailed ? .bad : .good)
    if !options.endsAfterTour {
      if tour.waitsForReader { _ = terminal.askForNext() }
      try stayUp(places)
    }
    let areEnded = end()
    if !areEnded { terminal.line("A proxy did not end in good order.", .bad) }
    return !hasFailed && areEnded ? 0 : 1
  }

  /// Ends the proxies. Returns true if all ended in good order. May be called from any thread.
  @discardableResult
  func end() -> Bool {
    isEnding.store(true, ordering: .relaxed)
    return proxies.withLock { Array($0.values) }.map { $0.terminate() }.allSatisfy { $0 == 0 }
  }

  /// Makes the folder the current one, with a link to the proxy in it. Another demonstration's folder is left alone.
  private func enterFolder() throws(DemonstrationError) -> String {
    let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let proxyPath = (options.proxyPath.map { URL(filePath: $0) } ?? own.appending(path: "bearer-proxy")).path
    let temporary = FileManager.default.temporaryDirectory.path + "/bearer-proxy-demo-\(getpid())"
    var path = options.directory.map { URL(filePath: $0).path } ?? temporary
    do {
      if try !takeFolder(path) {
        terminal.line("\(path) belongs to a demonstration that runs; this one's folder is \(temporary).")
        path = temporary
        _ = try takeFolder(path)
      }
      // Accounts of an earlier demonstration belong to a provider that is gone.
      for name in [DemoPlaces.cache, DemoPlaces.cookies, DemoPlaces.program, "proxy.log", "gateway.log", "branch.log"] {
        guard unlink(name) == 0 || errno == ENOENT else { throw SystemError("unlink") }
      }
      try FileManager.default.createSymbolicLink(atPath: DemoPlaces.program, withDestinationPath: proxyPath)
    } catch {
      throw DemonstrationError("cannot write to \(path)")
    }
    return path
  }

  /// Makes a folder the current one. Returns false if another demonstration has it: the kernel unlocks it when that
  /// process ends.
  private func takeFolder(_ path: String) throws -> Bool {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let descriptor = open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0 { return false }
    guard FileManager.default.changeCurrentDirectoryPath(path) else { throw SystemError("chdir") }
    return true
  }

  private func startServices(_ directory: String) throws(DemonstrationError) -> DemoServices {
    var settings = DemoSettings(directory: directory)
    settings.ports = [8443, 8444, 8445]
    let services = try mapping(
      { (error: any Error) in DemonstrationError("the sample services do not start: \(error)") },
      DemoServices(settings, log: log.append))
    // The platform of a machine with an identity tells the address of its service in this way.
    setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", services.identityOrigin, 1)
    return services
  }

  /// Starts the two proxies that call on in their callers' names, from the last to the first, then the one before them.
  private func startProxies(_ services: DemoServices, _ directory: String) throws(DemonstrationError) -> DemoPlaces {
    typealias Sample = DemoDirectory.Sample
    var upstream = "\(services.apiOrigin)/api/"
    for (name, client, scope) in [
      ("branch", Sample.branch, "\(Sample.ordersURI)/Orders.Read"),
      ("gateway", Sample.gateway, "\(Sample.branchURI)/Branch.Access"),
    ] {
      let configuration = hopConfiguration(
        name, client: client, scope: scope, upstream: upstream, issuer: services.issuer)
      try writeFile(Array(configuration.utf8), to: "\(name).yaml")
      upstream = "http://\(try start(name))/"
    }
    var places = DemoPlaces(
      directory: directory, gatewayOrigin: String(upstream.dropLast()), services: services)
    try writeFile(Array(demoProgram(places).utf8), to: "reports.sh")
    try writeFile(Array(UUID().uuidString.utf8), to: "reports-secret")
    // A port that was free a moment ago may be taken by the time the proxy asks for it.
    for isLastAttempt in [false, false, true] {
      (places.proxyPort, places.adminPort) = (try Self.freePort(places.proxyPort), try Self.freePort(places.adminPort))
      try writeFile(Array(demoConfiguration(places).utf8), to: "proxy.yaml")
      do throws(DemonstrationError) {
        try start("proxy", readiness: places.readiness)
        break
      } catch {
        guard !isLastAttempt, textOfFile(DemoPlaces.log).contains("Address already in use") else { throw error }
      }
    }
    return places
  }

  /// `preferred`, or any other port if that is taken.
  private static func freePort(_ preferred: UInt16) throws(DemonstrationError) -> UInt16 {
    let socket = try mapping(
      { (error: SystemError) in DemonstrationError("no port is free: \(error)") },
      BoundSocket.loopback(preferring: preferred))
    socket.close()
    return socket.address.port
  }

  /// Starts the proxy `name` and waits until it serves and `readiness` responds with 200. Returns its address.
  @discardableResult
  private func start(_ name: String, readiness: String? = nil) throws(DemonstrationError) -> String {
    let path = "\(name).log"
    let log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard log >= 0 else { throw DemonstrationError("cannot write to \(path)") }
    defer { close(log) }
    let start = lseek(log, 0, SEEK_END)
    let child = try StartedProgram.start([DemoPlaces.program, "run", "-c", "\(name).yaml"], output: log)
    proxies.withLock { $0[name] = child }
    for _ in 0..<1500 where child.end == nil {
      let words = String(decoding: textOfFile(path).utf8.dropFirst(Int(start)), as: UTF8.self)
      if let address = words.between(#""message":"serving","address":""#, "\"") {
        guard let readiness else { return address }
        if try CommandRun(["curl", "-sSi", readiness]).httpStatus == 200 { return address }
      }
      usleep(20_000)
    }
    child.terminate()
    terminal.indented(textOfFile(path).suffix(2000), .quiet)
    let folder = FileManager.default.currentDirectoryPath
    throw DemonstrationError("bearer-proxy did not become ready; its log is \(folder)/\(path)")
  }

  private func introduce(_ places: DemoPlaces) {
    let services = places.services
    let addresses = [
      ("identity provider", 8443, services.providerOrigin, "(as Microsoft Entra, with sample users)"),
      ("sample API", 8444, services.apiOrigin, "(takes only that provider's tokens)"),
      ("identity service", 8445, services.identityOrigin, "(of a machine, as Azure's)"),
      ("proxy", 8080, places.proxyOrigin, ""), ("admin listener", 9901, places.adminOrigin, "(health and metrics)"),
    ]
    for (name, port, origin, _) in addresses where !origin.hasSuffix(":\(port)") {
      terminal.line("Port \(port) is in use: the \(name) is at \(origin).")
    }
    for (name, _, origin, purpose) in addresses {
      terminal.line("  \(name.padded(20))\(origin.padded(purpose.isEmpty ? 0 : 24))\(purpose)")
    }
    terminal.line("\nAll commands run in this folder, which has the configuration, the log and keys:\n")
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

  private func stayUp(_ places: DemoPlaces) throws(DemonstrationError) {
    tryItYourself(places)
    OutputFile.standardOutput.flush()
    log.goLive()
    while let child = proxies.withLock({ $0["proxy"] }), child.end == nil { usleep(100_000) }
    // The signal's handler ends the process.
    while isEnding.load(ordering: .relaxed) { usleep(100_000) }
    throw DemonstrationError("bearer-proxy ended by itself; its log is \(places.directory)/\(DemoPlaces.log)")
  }

  /// Calls that work as they are, from any folder, in this order.
  private func tryItYourself(_ places: DemoPlaces) {
    typealias Sample = DemoDirectory.Sample
    let program = "\(places.directory)/bearer-proxy"
    let configuration = ["-c", "\(places.directory)/proxy.yaml"]
    terminal.line("\nTry it yourself, in another terminal", .title)
    func show(_ text: String, at address: String? = nil, _ calls: [String]...) {
      terminal.line()
      terminal.wrapped(text, after: "  ")
      if let address { terminal.indented(address, .command) }
      for words in calls { terminal.command(words) }
    }
    show(
      "As an application; its events; as an application without rights (403):",
      ["curl", "-i", "\(places.proxyOrigin)/orders/list"],
      ["curl", "-N", "\(places.proxyOrigin)/orders/ticks?count=5&pause_ms=400"],
      ["curl", "-i", "\(places.proxyOrigin)/visitor/list"])
    show(
      "As Alice: sign in at this address, or with the command. User \(Sample.alice), "
        + "password \(Sample.password). Browsers warn of the provider's certificate; continue.",
      at: places.signIn("/my/orders/list"),
      [program, "login"] + configuration + ["--route", "my-orders", "--device-code"],
      ["curl", "-i", "\(places.proxyOrigin)/my/orders/list"])
    show(
      "The proxy's state and metrics; the provider's page with its users:",
      [program, "status"] + configuration, ["curl", "\(places.adminOrigin)/metrics"],
      ["curl", "--cacert", "\(places.directory)/\(DemoPlaces.authority)", "\(places.services.providerOrigin)/"])
    terminal.line("\nCtrl-C ends it. Until then, this is what the provider and the API see:", .quiet)
  }
}
