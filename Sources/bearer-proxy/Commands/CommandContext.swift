import Bytes
import Configuration
import Glibc
import HTTPClient
import Identity
import Platform
import Telemetry
import Tokens

/// The surroundings of a command. Tests replace parts of them.
struct CommandContext: Sendable {
  var environment: [String: String]
  /// The wall clock.
  var now: @Sendable () -> UnixTime = { .now }
  /// Waits for seconds between two polls.
  var sleep: @Sendable (Int64) async -> Void = TokenBroker.sleep
  /// Writes what a person reads while the command runs; the answer comes at its end.
  var writeProgress: @Sendable (String) -> Void = { writeError($0) }
  /// Writes a part of a long answer before its end; returns false if no one reads it.
  var writePage: @Sendable (String) -> Bool = { writeOutput($0) }
  var terminal = Terminal()
  var openLoop: @Sendable () throws(SystemError) -> EventLoop = { () throws(SystemError) in try EventLoop() }
  /// Replaces the network to the providers of applications.
  var providers: (@Sendable (ApplicationSettings) -> Fetch)?

  func settings(_ file: String) throws(CommandError) -> Settings {
    try attempt(try Settings.load(file: file, environment: environment), otherwise: CommandError.configuration)
  }

  /// The settings of a file with everything that the files they name hold.
  func configuration(_ file: String) throws(CommandError) -> LoadedConfiguration {
    let settings = try settings(file)
    return try attempt(
      try LoadedConfiguration(settings, environment: environment), otherwise: CommandError.configuration)
  }

  /// Settings and the place of their cache, for a command that asks no provider.
  func settingsAndCache(_ file: String) throws(CommandError) -> (Settings, CacheLocation) {
    // An application that opens the cache is asked for; otherwise certificates do not matter.
    let settings = try settings(file)
    if case .redis(let redis) = settings.cache, redis.entra != nil { return (settings, try configuration(file).cache) }
    return (settings, try attempt(try CacheLocation(settings), otherwise: CommandError.configuration))
  }

  /// The names in a configuration, the usual one if none is given; none if it cannot be read.
  func names(_ list: NameList, in file: String?) -> [String] {
    let given = file.map { $0.hasPrefix("~/") ? "\(environment["HOME"] ?? "~")\($0.dropFirst())" : $0 }
    do {
      let path =
        try given ?? environment["BEARER_PROXY_CONFIG"] ?? ConfigurationSearch(environment: environment).file()
      return list.names(yaml: try ReadableFile.contents(of: path, limit: 1 << 20), file: path)
    } catch {
      return []
    }
  }

  /// The connections of a command to others.
  func network() throws(CommandError) -> CommandNetwork {
    CommandNetwork(loop: try attempt(try openLoop(), otherwise: CommandError.noEventLoop))
  }

  /// The ways to the providers of a configuration's applications.
  func providers(_ configuration: LoadedConfiguration, _ network: CommandNetwork) -> (ApplicationSettings) -> Fetch {
    providers ?? Providers(contexts: configuration.contexts, fetcher: network.fetcher).fetch
  }

  /// Opens the cache. What is wrong with a file that is there is written at once, for the command then shows less than
  /// there may be.
  func open(_ cache: CacheLocation, _ network: CommandNetwork) async -> CacheStore {
    await cache.open(loop: network.loop, resolver: network.resolver) { [writeProgress] event in
      guard case .failed(let error, _, isNews: true) = event, let place = cache.place else { return }
      writeProgress("bearer-proxy: warning: \(error.description(path: place))\n")
    }
  }

  /// The same for a command that is of no use without what the cache holds.
  func openReadable(_ cache: CacheLocation, _ network: CommandNetwork) async throws(CommandError) -> CacheStore {
    let store = await open(cache, network)
    guard let reason = store.blindness else { return store }
    throw .failed(
      "the token cache cannot be read, so who is signed in is not known", advice: reason.cure.words())
  }
}

extension CommandContext {
  /// Tries for five seconds to write what a command has obtained, and writes a warning if that does not succeed.
  func keep(_ store: CacheStore, in cache: CacheLocation) async {
    await store.writeEverything(until: .now + .seconds(5))
    guard let loss = store.loss, let place = cache.place else { return }
    writeProgress(
      "bearer-proxy: warning: new tokens are lost with this command, so a person may have to sign in again: "
        + "\(loss.reason.description(path: place)). \(loss.reason.cure.words())\n")
  }
}

/// An event loop and the clients that use it, for one command.
struct CommandNetwork: Sendable {
  let loop: EventLoop
  let resolver = Resolver()
  let fetcher: Fetcher

  init(loop: EventLoop) {
    self.loop = loop
    fetcher = Fetcher(loop: loop, resolver: resolver)
  }
}

/// The exit status of every command.
enum ExitStatus: Int32 {
  case done = 0
  /// Tried and failed; another try may succeed. An address in use is such a failure.
  case failed = 1
  /// The command line or the configuration is wrong; nothing was started, and another try cannot succeed.
  case usage = 2
  /// A person has to sign in or consent first.
  case interactionRequired = 3
}

/// A command's answer and its exit status.
struct CommandAnswer: Equatable {
  enum Stream: Equatable {
    case output, error
  }

  var text: String
  var status: ExitStatus
  var stream: Stream

  /// An answer on the stream that a program reads; without one, on standard output if the command succeeded, else on
  /// standard error.
  init(text: String, status: ExitStatus, stream: Stream? = nil) {
    (self.text, self.status) = (text, status)
    self.stream = stream ?? (status == .done ? .output : .error)
  }

  func write() {
    switch stream {
    case .output: writeOutput(text)
    case .error: writeError(text)
    }
  }
}

/// The reason why a command ends without its result.
enum CommandError: Error, Equatable {
  /// Every mistake in its place.
  case configuration(ConfigurationError)
  /// The command line is wrong, or does not fit the configuration.
  case usage(String)
  /// A try that failed. The message may quote others; `advice` is a line of ours, or empty.
  case failed(String, status: ExitStatus = .failed, advice: String = "")
  case noEventLoop(SystemError)

  var answer: CommandAnswer {
    switch self {
    case .configuration(let error): CommandAnswer(text: "\(error)\n", status: error.mayPass ? .failed : .usage)
    case .usage(let message): CommandAnswer(text: "bearer-proxy: error: \(message)\n", status: .usage)
    case .failed(let message, let status, let advice):
      CommandAnswer(
        text: "bearer-proxy: error: \(message.printable(limit: 4000))\n\(advice.isEmpty ? "" : "\(advice)\n")",
        status: status)
    case .noEventLoop(let error):
      CommandAnswer(
        text: "bearer-proxy: error: the system gives no event loop: \(error.description)\n\(error.loopAdvice)\n",
        status: .failed)
    }
  }
}

extension CommandError {
  /// The configuration in a file does not have a name that the command line gives.
  static func unknown(_ kind: String, _ name: String, among names: [String], in file: String) -> CommandError {
    .usage("\(file): \(unknownName(kind, name, among: names))")
  }

  /// A file that cannot be read.
  static func unreadable(_ file: String) -> (FileError) -> CommandError {
    { .failed("cannot read \(file): \($0.description)") }
  }
}

extension Settings {
  func route(_ name: String, in file: String) throws(CommandError) -> RouteSettings {
    if let route = routes.first(where: { $0.name == name }) { return route }
    throw .unknown("route", name, among: routes.map(\.name), in: file)
  }
}

/// A value. What throws in its place becomes another error.
func attempt<Value, Cause: Error, Failure: Error>(
  _ value: @autoclosure () throws(Cause) -> Value, otherwise failure: (Cause) -> Failure
) throws(Failure) -> Value {
  do throws(Cause) { return try value() } catch { throw failure(error) }
}

/// The answer to a name that the configuration does not have, with what was probably meant and what there is.
func unknownName(_ kind: String, _ name: String, among names: [String]) -> String {
  let nearest = nearestWord(to: name, among: names).map { "; did you mean '\($0)'?" } ?? ""
  let shown = names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", … (\(names.count) in all)" : "")
  return "there is no \(kind) '\(name)'\(nearest) (\(names.isEmpty ? "it has none" : "\(kind)s: \(shown)"))"
}

extension SystemError {
  /// The cure if no event loop can be made.
  fileprivate var loopAdvice: String {
    isExhaustion
      ? "No file descriptor is left. Raise the limit (ulimit -n, or LimitNOFILE= of the service) and try again."
      : "The kernel has to offer epoll and eventfd to this process: look at the limits and filters it runs under."
  }
}

/// Writes text to standard output; returns false if there is no reader.
@discardableResult
func writeOutput(_ text: String) -> Bool { write(text, to: STDOUT_FILENO) }

func writeError(_ text: String) { _ = write(text, to: STDERR_FILENO) }

/// Writes everything, or as much as there is a reader for.
private func write(_ text: String, to descriptor: Int32) -> Bool {
  Array(text.utf8).withUnsafeBytes { writeAll($0, to: descriptor) } == nil
}
