// The entry point: arguments, signals, exit status.

import FoundationEssentials
import Glibc
import Platform

@main
struct BearerProxyDemo {
  static func main() {
    CryptoLibrary.outlastExit()
    switch DemoArguments(Array(CommandLine.arguments.dropFirst())) {
    case .help:
      finish(DemoArguments.helpText, .standardOutput, status: 0)
    case .wrong(let reason):
      finish("bearer-proxy-demo: error: \(reason)\nTry 'bearer-proxy-demo --help'.\n", .standardError, status: 2)
    case .run(let options):
      run(options)
    }
  }

  private static func run(_ options: DemoOptions) -> Never {
    let terminal = Terminal(environment: ProcessInfo.processInfo.environment, options)
    let demonstration = Demonstration(options, terminal)
    ProcessSignal.ignoreBrokenPipes()
    // On a terminal, Ctrl-C reaches the proxy too, which takes it as a request to end in good order.
    let signals = [ProcessSignal.Name.interrupt, .terminate].map { name in
      ProcessSignal(name) {
        terminal.line("\nEnding.", .quiet)
        demonstration.end()
        finish("", .standardOutput, status: options.endsAfterTour ? 130 : 0)
      }
    }
    do throws(DemonstrationError) {
      let status = try withExtendedLifetime(signals) { () throws(DemonstrationError) in try demonstration.perform() }
      finish("", .standardOutput, status: status)
    } catch {
      demonstration.end()
      OutputFile.standardOutput.flush()
      finish("bearer-proxy-demo: error: \(error.message)\n", .standardError, status: 1)
    }
  }

  private static func finish(_ text: String, _ file: OutputFile, status: Int32) -> Never {
    file.write(text: text)
    file.flush()
    exit(status)
  }
}

/// The meaning of the command's words.
enum DemoArguments: Equatable {
  case run(DemoOptions)
  case help
  case wrong(String)

  static let helpText = """
    bearer-proxy-demo shows the proxy at work, on this machine alone.

    It starts an identity provider and a sample API over TLS, runs bearer-proxy between the API and you, walks through
    a short tour, and stays up until Ctrl-C. On a terminal, the tour waits for Enter after each part.

    Usage: bearer-proxy-demo [--once] [--verbose] [--directory DIR] [--proxy PATH]

    Options:
      --once           End after the tour; exit 1 if a step did not go as expected.
      --verbose        Show everything that the commands print, and each request that the services see.
      --directory DIR  Where keys, certificates, the configuration and the log are written. Default: a new one.
      --proxy PATH     The bearer-proxy to run. Default: the one beside this program.

    """

  init(_ words: [String]) {
    var options = DemoOptions()
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "-h", "--help":
        self = .help
        return
      case "--once": options.endsAfterTour = true
      case "--verbose": options.isVerbose = true
      case "--directory", "--proxy":
        guard let value = rest.popFirst(), !value.isEmpty else {
          self = .wrong("\(word) needs a value")
          return
        }
        if word == "--proxy" { options.proxyPath = value } else { options.directory = value }
      default:
        self = .wrong("'\(word)' is not an option")
        return
      }
    }
    self = .run(options)
  }
}

/// The options of a demonstration.
struct DemoOptions: Equatable {
  var endsAfterTour = false
  var isVerbose = false
  var directory: String?
  var proxyPath: String?
}
