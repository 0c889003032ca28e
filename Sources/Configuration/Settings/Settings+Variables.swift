// The environment variables that hold secrets of the configuration.

internal import Bytes

extension Settings {
  /// The variables of an environment that secrets of the configuration come from: as `${NAME}` in a value that is not
  /// shown as it is, or as a variable of a command that proves an application.
  package func secretVariables(of environment: [String: String]) -> Set<String> {
    var names: Set<String> = []
    for value in given {
      guard case .file(_, let variables) = value.source else { continue }
      for name in variables {
        guard let content = environment[name] else { continue }
        if value.value.contains(ConfiguredValue.hidden) || !value.value.contains(content) { names.insert(name) }
      }
    }
    for command in applications.compactMap(\.assertionCommand) {
      for variable in command.environment {
        let parts = variable.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, command.secrets.contains(Secret(String(parts[1]))) else { continue }
        names.insert(String(parts[0]))
      }
    }
    return names
  }
}
