import DemoProvider
import FoundationEssentials
import Glibc
import Platform

@main
struct BearerProxyDemo {
  static func main() {
    CryptoLibrary.outlastExit()
    do throws(DemoOptions.Stop) {
      run(try DemoOptions(CommandLine.arguments.dropFirst()))
    } catch {
      switch error {
      case .help: finish(DemoOptions.helpText, status: 0)
      case .wrong(let reason): fail("\(reason)\nTry 'bearer-proxy-demo --help'.", status: 2)
      }
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
        finish(status: options.endsAfterTour ? 130 : 0)
      }
    }
    do throws(DemonstrationError) {
      let status = try withExtendedLifetime(signals) { () throws(DemonstrationError) in try demonstration.perform() }
      finish(status: status)
    } catch {
      demonstration.end()
      OutputFile.standardOutput.flush()
      fail(error.message, status: 1)
    }
  }

  private static func fail(_ reason: String, status: Int32) -> Never {
    finish("bearer-proxy-demo: error: \(reason)\n", .standardError, status: status)
  }

  private static func finish(_ text: String = "", _ file: OutputFile = .standardOutput, status: Int32) -> Never {
    file.write(text: text)
    file.flush()
    exit(status)
  }
}

/// The options of a demonstration.
struct DemoOptions {
  /// A reason not to run.
  enum Stop: Error, Equatable {
    case help
    case wrong(String)
  }

  var endsAfterTour = false
  var isVerbose = false
  var directory: String?
  var proxyPath: String?

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

  init(_ words: ArraySlice<String>) throws(Stop) {
    var rest = words
    while let word = rest.popFirst() {
      switch word {
      case "-h", "--help": throw .help
      case "--once": endsAfterTour = true
      case "--verbose": isVerbose = true
      case "--directory", "--proxy":
        guard let value = rest.popFirst(), !value.isEmpty else { throw .wrong("\(word) needs a value") }
        if word == "--proxy" { proxyPath = value } else { directory = value }
      default: throw .wrong("'\(word)' is not an option")
      }
    }
  }
}
