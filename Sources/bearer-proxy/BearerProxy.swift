// The entry point: words in, one command performed, exit status out.

// Also for its `setpriority`, which takes the place of the C library's.
import FoundationEssentials
import Glibc
import Platform

@main
struct BearerProxy {
  static func main() async {
    CryptoLibrary.outlastExit()
    Machine.forbidDumps()
    let environment = ProcessInfo.processInfo.environment
    let words = Array(Machine.arguments.dropFirst())
    let answer: CommandAnswer
    do throws(UsageError) {
      var found: String?
      let command = try Arguments.command(words, environment: environment) { () throws(UsageError) in
        let file = try ConfigurationSearch(environment: environment).file()
        found = file
        return file
      }
      switch command {
      // The first record of the log says it.
      case .run, .exec: break
      default: if let found { writeError("bearer-proxy: configuration: \(found)\n") }
      }
      answer = await command.answer(in: CommandContext(environment: environment))
    } catch {
      answer = CommandAnswer(
        text: "bearer-proxy: error: \(error.message)\nTry 'bearer-proxy --help'.\n", status: .usage)
    }
    answer.write()
    exit(answer.status.rawValue)
  }
}

extension Command {
  func answer(in context: CommandContext) async -> CommandAnswer {
    do throws(CommandError) {
      return switch self {
      case .completion(let shell): CommandAnswer(text: shell.completion, status: .done)
      case .complete(let words): CommandAnswer(text: CompletedLine(words).text(names: context.names), status: .done)
      case .document(let file): try DocumentCommand(file: file).answer()
      case .troubleshooting: CommandAnswer(text: troubleshootingPage(), status: .done)
      case .man: CommandAnswer(text: manualPage(), status: .done)
      case .version(let form): CommandAnswer(text: versionText(form), status: .done)
      case .help(let name): CommandAnswer(text: helpText(name), status: .done)
      case .check(let configuration): try CheckCommand(configuration: configuration).answer(in: context)
      case .checkLive(let command): try await command.answer(in: context)
      case .initialise(let configuration): try InitCommand(configuration: configuration).answer(in: context)
      case .discover(let api): try await DiscoverCommand(api: api).answer(in: context)
      case .engine(let engine, let configuration):
        try EngineCommand(engine: engine, configuration: configuration).answer(in: context)
      case .exec(let command): try await command.answer(in: context)
      case .run(let options): try await RunCommand(options: options).answer(in: context)
      case .login(let command): try await command.answerUntilInterrupted(in: context)
      case .accounts(let command): try await command.answer(in: context)
      case .logout(let command): try await command.answer(in: context)
      case .status(let command): try await command.answer(in: context)
      case .token(let command): try await command.answer(in: context)
      }
    } catch {
      return error.answer
    }
  }
}
