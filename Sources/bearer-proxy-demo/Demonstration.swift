// Owns the order of events: folder, services, configuration, proxy, tour, staying up, ending.

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
  private let isEnding = Atomic(false)

  init(_ options: DemoOptions, _ terminal: Terminal) {
    self.options = options
    self.terminal = terminal
  }

  /// Runs to the end; the process's exit status.
  func perform() throws(DemonstrationError) -> Int32 {
    let settings = try folder()
    let log = ExchangeLog(terminal)
    let services = try services(settings, log)
    let proxyPath = options.proxyPath ?? Self.proxyBesideUs
    let places = try startProxy(proxyPath, services, settings.directory)
    terminal.line()
    terminal.line(
      "The proxy is ready at \(places.proxyOrigin). It has asked the provider for its routes' tokens:", .heading)
    for exchange in log.take() { terminal.indented(ExchangeLog.text(exchange), .quiet) }

    var tour = Tour(
      terminal, places, services, trustPath: settings.authorityPath, proxyPath: proxyPath, log: log
    ) { () throws(SpawnError) in
      self.proxy.withLock { $0 }?.terminate()
      return try self.becomesReady(proxyPath, places, log: .endOfFile(places.logPath))
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
    if options.ending == .onInterrupt { try stayUp(services, places, settings, log) }
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
    let child = proxy.withLock { $0 }
    return child == nil ? 0 : child?.terminate()
  }

  // MARK: Starting

  private func folder() throws(DemonstrationError) -> DemoSettings {
    let path = options.directory ?? FileManager.default.temporaryDirectory.path + "/bearer-proxy-demo-\(getpid())"
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw .folder(path)
    }
    // Accounts of an earlier demonstration belong to a provider that is gone.
    for name in ["msal_token_cache.json", "browser-cookies"]
    where FileManager.default.fileExists(atPath: "\(path)/\(name)") {
      do {
        try FileManager.default.removeItem(atPath: "\(path)/\(name)")
      } catch {
        throw .folder("\(path)/\(name)")
      }
    }
    return DemoSettings(directory: path)
  }

  private func services(_ settings: DemoSettings, _ log: ExchangeLog) throws(DemonstrationError) -> DemoServices {
    var settings = settings
    settings.providerPort = 8443
    settings.apiPort = 8444
    do throws(DemoError) {
      return try DemoServices(settings, log: log.append)
    } catch {
      throw .services(error)
    }
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

  private func write(_ configuration: String, _ places: DemoPlaces) throws(DemonstrationError) {
    do {
      try Data(configuration.utf8).write(to: URL(filePath: places.configurationPath))
    } catch {
      throw .folder(places.configurationPath)
    }
  }

  private static var proxyBesideUs: String {
    let own = CommandLine.arguments[0]
    do {
      return try URL(filePath: FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        .deletingLastPathComponent().appending(path: "bearer-proxy").path
    } catch {
      return URL(filePath: own).deletingLastPathComponent().appending(path: "bearer-proxy").path
    }
  }

  private func introduce(_ services: DemoServices, _ directory: String) {
    terminal.line("bearer-proxy, demonstrated on this machine alone", .heading)
    terminal.line()
    terminal.line("  identity provider  \(services.providerOrigin)  (Entra-shaped)")
    terminal.line("  sample API         \(services.apiOrigin)  (believes that provider's tokens only)")
    terminal.line("  keys, certificates, configuration and log are in \(directory)")
    terminal.line()
  }

  /// Writes the configuration and starts the proxy with it, and says where that is. A port that was free a moment ago
  /// may be somebody else's by the time the proxy asks for it: then with other ports.
  private func startProxy(
    _ path: String, _ services: DemoServices, _ directory: String
  ) throws(DemonstrationError) -> DemoPlaces {
    introduce(services, directory)
    var attempt = 1
    while true {
      let places = DemoPlaces(
        directory: directory, proxyPort: try Self.freePort(attempt == 1 ? 8080 : 0),
        adminPort: try Self.freePort(attempt == 1 ? 9901 : 0))
      try write(demoConfiguration(places, issuer: services.issuer, apiOrigin: services.apiOrigin), places)
      if attempt == 1 {
        terminal.line("  $ \(quoted(path)) run -c \(quoted(places.configurationPath))", .command)
      }
      do throws(SpawnError) {
        if try becomesReady(path, places, log: .file(places.logPath)) { return places }
      } catch {
        throw .spawn(error)
      }
      let log = FileManager.default.contents(atPath: places.logPath) ?? Data()
      let lastWords = String(decoding: log.suffix(2000), as: UTF8.self)
      guard lastWords.contains("Address already in use"), attempt < 3 else {
        terminal.indented(lastWords, .quiet)
        throw .proxy(logPath: places.logPath, "bearer-proxy did not become ready")
      }
      attempt += 1
    }
  }

  /// Whether the proxy, started now, is ready within ten seconds.
  private func becomesReady(_ path: String, _ places: DemoPlaces, log: ChildOutput) throws(SpawnError) -> Bool {
    let child = try ChildProcess([path, "run", "-c", places.configurationPath], log)
    proxy.withLock { $0 = child }
    let probe = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "\(places.adminOrigin)/readyz"]
    for _ in 0..<500 where child.poll() == nil {
      if try CommandRun.run(probe).text == "200" { return true }
      usleep(20_000)
    }
    child.terminate()
    return false
  }

  // MARK: Staying up

  private func stayUp(
    _ services: DemoServices, _ places: DemoPlaces, _ settings: DemoSettings, _ log: ExchangeLog
  ) throws(DemonstrationError) {
    terminal.line()
    terminal.line("Try it yourself:", .heading)
    for words in [
      ["curl", "-i", "\(places.proxyOrigin)/orders/list"],
      ["curl", "-N", "\(places.proxyOrigin)/orders/ticks?count=10"],
      ["curl", "-i", "\(places.proxyOrigin)/visitor/list"],
      ["curl", "-i", "\(places.proxyOrigin)/nowhere"],
      ["curl", "\(places.adminOrigin)/metrics"],
      ["curl", "--cacert", settings.authorityPath, "\(services.issuer)/.well-known/openid-configuration"],
      ["tail", "-f", places.logPath],
    ] {
      terminal.line("  $ " + words.map(quoted).joined(separator: " "), .command)
    }
    terminal.line()
    terminal.line("Ctrl-C ends it. Until then, this is what the provider and the API see:", .quiet)
    log.goLive()
    while let child = proxy.withLock({ $0 }), child.poll() == nil { usleep(100_000) }
    // The signal's handler ends the process; here it only must not look like an accident.
    while isEnding.load(ordering: .relaxed) { usleep(100_000) }
    throw .proxy(logPath: places.logPath, "bearer-proxy ended by itself")
  }
}
