// Owns the entry point: words in, one command performed, exit status out.

import FoundationEssentials
import Glibc
import Network

@main
struct BearerProxy {
  static func main() async {
    Machine.forbidDumps()
    let environment = ProcessInfo.processInfo.environment
    let words = Array(CommandLine.arguments.dropFirst())
    do throws(UsageError) {
      let command = try Arguments.command(words, environment: environment)
      exit(await perform(command, environment: environment).rawValue)
    } catch {
      complain("bearer-proxy: error: \(error.message)\nTry 'bearer-proxy --help'.\n")
      exit(ExitStatus.usage.rawValue)
    }
  }

  private static func perform(_ command: Command, environment: [String: String]) async -> ExitStatus {
    switch command {
    case .check(let configuration):
      return CheckCommand(configuration: configuration, environment: environment).perform()
    case .checkLive(let options):
      return await LiveCheck(options: options, environment: environment).perform()
    case .initialise(let configuration):
      return InitCommand(configuration: configuration, environment: environment).perform()
    case .completion(let shell):
      say(shell.completion)
    case .man:
      say(manualPage())
    case .version(let form):
      say(versionText(form))
    case .help(let name):
      say(helpText(name))
    case .run(let options):
      return await RunCommand(options: options, environment: environment).perform()
    case .login(let options):
      return await LoginCommand(options: options, environment: environment).perform()
    case .accounts(let configuration, let form):
      return await AccountsCommand(configuration: configuration, form: form, environment: environment).perform()
    case .logout(let options):
      return await LogoutCommand(options: options, environment: environment).perform()
    case .status(let options):
      return await StatusCommand(options: options, environment: environment).perform()
    case .token(let options):
      return await TokenCommand(options: options, environment: environment).perform()
    }
    return .done
  }
}
