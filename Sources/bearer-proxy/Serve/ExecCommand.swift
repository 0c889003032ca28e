// `exec`: a program that gets tokens, and a proxy for it alone, which ends when the program does.

import Bytes
import Configuration
import Glibc
import Platform
import Proxy
import Routing
import Telemetry

extension ExecCommand {
  func answer(in context: CommandContext) async throws(CommandError) -> CommandAnswer {
    let launch = try ProgramLaunch(self, context)
    let run = RunOptions(
      configuration: configuration, logLevel: logLevel ?? .warning, logFormat: logFormat,
      loops: 1)
    var command = RunCommand(options: run)
    command.launch = launch
    let answer: CommandAnswer
    do throws(CommandError) {
      answer = try await command.answer(in: context)
    } catch {
      launch.send(.terminate)
      throw error
    }
    guard let end = launch.end else { return answer }
    exit(end.status)
  }
}

/// A program of the configuration, an address and a secret for this run of it, and its process once it was started.
final class ProgramLaunch: Sendable {
  let socket: BoundSocket
  private let name: String
  private let shape: ProgramShape
  private let secret: Secret
  private let words: [String]
  private let environment: [String: String]
  private let running = Locked<StartedProgram?>(nil)

  init(_ command: ExecCommand, _ context: CommandContext) throws(CommandError) {
    let settings = try context.settings(command.configuration)
    let programs = settings.listeners.flatMap(\.programs)
    let names = programs.map(\.name)
    if programs.isEmpty { throw .usage("the configuration has no 'programs' at a listener: exec starts one of them") }
    if command.program == nil, programs.count > 1 {
      throw .usage("--program names one of the configuration's programs: \(names.joined(separator: ", "))")
    }
    guard let program = command.program.map({ name in programs.first { $0.name == name } }) ?? programs.first else {
      throw .usage(unknownName("program", command.program ?? "", among: names))
    }
    (name, shape) = (program.name, program.shape.withSecret)
    let random = try attempt(try RandomBytes.make(32)) { (error: CryptoError) in
      CommandError.failed("no secret can be made: \(error)")
    }
    secret = Secret(Base64URL.encode(random))
    socket = try attempt(try BoundSocket.loopback()) { (error: SystemError) in
      CommandError.failed("cannot listen on 127.0.0.1: \(error.reason)")
    }
    var environment = context.environment
    let secrets = settings.secretVariables(of: environment)
    for name in command.keptVariables where !secrets.contains(name) {
      throw .usage("--keep-variable \(name): \(Self.notSecret(secrets))")
    }
    for name in secrets where !command.keptVariables.contains(name) { environment[name] = nil }
    (words, self.environment) = (command.words, environment)
  }

  private static func notSecret(_ secrets: Set<String>) -> String {
    secrets.isEmpty
      ? "no secret of the configuration comes from a variable, so the program gets all of them"
      : "no secret of the configuration is in it, so the program gets it; secrets are in "
        + secrets.sorted().joined(separator: ", ")
  }

  /// The settings of the process: this program's listener, and no other.
  func adapt(_ settings: Settings) throws(ConfigurationError) -> Settings {
    try settings.serving(program: name, secret: secret, at: socket.address)
  }

  /// Starts the program. It waits for its first token until the proxy accepts connections.
  func start() throws(CommandError) {
    do throws(SystemError) {
      let program = try StartedProgram.launch(words, environment: variables)
      running.withLock { $0 = program }
    } catch {
      writeError("bearer-proxy: error: cannot start \(words.first ?? ""): \(error.reason)\n")
      // As shells have it.
      exit(error.number == ENOENT ? 127 : 126)
    }
  }

  var end: ProgramEnd? { running.withLock { $0 }?.end }

  func send(_ signal: ProcessSignal.Name) { running.withLock { $0 }?.pass(signal) }

  /// The variables of this process with those of the shape, and without those that Azure's SDKs prefer and those of the
  /// configuration's secrets.
  private var variables: [String] {
    let origin = "http://\(socket.address)"
    var variables = environment
    let others = [
      "IDENTITY_ENDPOINT", "IDENTITY_HEADER", "IDENTITY_SERVER_THUMBPRINT", "IMDS_ENDPOINT", "MSI_ENDPOINT",
      "MSI_SECRET", "AZURE_POD_IDENTITY_AUTHORITY_HOST",
    ]
    switch shape {
    case .appService, .imds:
      for name in others { variables[name] = nil }
      variables["IDENTITY_ENDPOINT"] = "\(origin)\(ProgramEndpoint.identityPath)"
      variables["IDENTITY_HEADER"] = secret.revealed()
      // Without a token from here, Azure's credential chains would go on to a developer's own sign-ins.
      if variables["AZURE_TOKEN_CREDENTIALS"] == nil { variables["AZURE_TOKEN_CREDENTIALS"] = "prod" }
    case .tokenEndpoint:
      variables["BEARER_PROXY_TOKEN_URL"] = "\(origin)\(ProgramEndpoint.tokenPath)"
      variables["BEARER_PROXY_CLIENT_ID"] = name
      variables["BEARER_PROXY_CLIENT_SECRET"] = secret.revealed()
    }
    return variables.map { "\($0.key)=\($0.value)" }
  }
}
