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
        terminal.line()
        terminal.line("Ending.", .quiet)
        demonstration.end()
        terminal.flush()
        exit(options.ending == .onInterrupt ? 0 : 130)
      }
    }
    let status: Int32
    do throws(DemonstrationError) {
      status = try withExtendedLifetime(signals) { () throws(DemonstrationError) in try demonstration.perform() }
    } catch {
      demonstration.end()
      terminal.flush()
      finish("bearer-proxy-demo: error: \(error.message)\n", .standardError, status: 1)
    }
    terminal.flush()
    exit(status)
  }

  private static func finish(_ text: String, _ file: OutputFile, status: Int32) -> Never {
    file.write(text: text)
    file.flush()
    exit(status)
  }
}
