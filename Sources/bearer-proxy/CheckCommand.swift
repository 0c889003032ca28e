// Owns `check`: everything that `run` would refuse, and nothing started.

import Configuration

/// Validates a configuration and says what came of it.
struct CheckCommand {
  let configuration: String
  let environment: [String: String]

  /// What to say, and where.
  enum Verdict: Equatable {
    case right(String)
    case wrong(String)
  }

  func verdict() -> Verdict {
    do throws(ConfigurationError) {
      let settings = try Settings.load(file: configuration, environment: environment)
      _ = try TLSContexts(settings)
      try checkCache(of: settings)
      let routes = counted(settings.routes.count, "route")
      let applications = counted(settings.applications.count, "application")
      return .right("\(configuration): ok (\(routes), \(applications))\n" + Tracing(environment).report)
    } catch {
      return .wrong("\(error)\n")
    }
  }

  func perform() -> ExitStatus {
    switch verdict() {
    case .right(let text):
      say(text)
      return .done
    case .wrong(let text):
      complain(text)
      return .usage
    }
  }

  private func counted(_ number: Int, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }
}
