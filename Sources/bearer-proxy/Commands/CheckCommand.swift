// `check`: everything that `run` would refuse, and nothing started.

import Configuration

/// Validates a configuration.
struct CheckCommand {
  let configuration: String

  func answer(in context: CommandContext) throws(CommandError) -> CommandAnswer {
    let loaded = try context.configuration(configuration)
    let settings = loaded.settings
    let warnings = settings.warnings + loaded.watched.warnings(at: context.now())
    let routes = counted(settings.routes.count, "route")
    let applications = counted(settings.applications.count, "application")
    return CommandAnswer(
      text: warnings.map { $0.warning + "\n" }.joined()
        + "\(configuration): ok (\(routes), \(applications))\n"
        + settings.applications.compactMap { application in
          application.proofDescription.map { "application '\(application.name)': \($0)\n" }
        }.joined() + Tracing(context.environment).report, status: .done)
  }

  private func counted(_ number: Int, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }
}
