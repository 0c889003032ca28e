// The contents of `/status` and `/config` for a process that was made from settings.

import Bytes
import Configuration
import Identity
import Platform
import Proxy
import Telemetry
import Tokens

extension ServiceDescription {
  /// The contents for a process with these settings, changed by the command line and the environment. Settings that a
  /// reload does not bring into force are as at the start.
  init(
    _ loaded: LoadedConfiguration, since first: Settings, _ machinery: Machinery, _ commands: OperatorCommands,
    cache: CacheCondition
  ) {
    let (settings, options) = (loaded.settings, machinery.options)
    let above = options.configuredValues()
    let kept = settings.needingRestart(since: first, options)
    func isKept(_ value: ConfiguredValue) -> Bool { kept.contains { value.key == $0 || value.key.hasPrefix($0 + ".") } }
    let values =
      settings.effectiveValues(above: above).filter { !isKept($0) }
      + first.effectiveValues(above: above).filter(isKept)
      + machinery.tracing.values
    self.init(
      version: programVersion, commit: programCommit,
      commands: commands, cache: { cache.report }, certificates: loaded.watched.report,
      configuration: { form in
        switch form {
        case .text: configurationText(values)
        case .json: configurationJSON(values, file: options.configuration).canonicalText() + "\n"
        }
      })
  }
}

extension Log {
  /// Writes a record for each thing that is allowed and hardly ever meant, in the words of `check`.
  func write(_ warnings: [ConfigurationIssue]) {
    for issue in warnings {
      warning("a setting is allowed, and probably a mistake", ["reason": .string(issue.warning)])
    }
  }
}

extension RunOptions {
  /// The configuration's file, for people who are in other directories than the process.
  var configurationPath: String { RuntimeDirectory.absolutePath(of: configuration) ?? configuration }

  /// The commands for whichever settings the file has.
  var commands: OperatorCommands { OperatorCommands(configuration: configurationPath) }

  /// The values of the command line, or of a variable, that replace the file's.
  func configuredValues() -> [ConfiguredValue] {
    var values: [ConfiguredValue] = []
    if let logLevel { values.append(ConfiguredValue("log.level", logLevel.rawValue, source(.logLevel))) }
    if let logFormat { values.append(ConfiguredValue("log.format", logFormat.rawValue, source(.logFormat))) }
    if let loops { values.append(ConfiguredValue("loops", "\(loops)", source(.loops))) }
    return values
  }

  private func source(_ option: Option) -> ValueSource {
    if let variable = option.variable, variables.contains(variable) { return .variable(variable) }
    return .option("--\(option.rawValue)")
  }
}

/// A line for each value, with its source behind it.
func configurationText(_ values: [ConfiguredValue]) -> String {
  let lines = values.map { (text: "\($0.key): \(plain($0.value))", source: $0.source.description) }
  let width = min(lines.map(\.text.count).max() ?? 0, 60)
  return lines.map { "\($0.text.padded(width))  # \($0.source)\n" }.joined()
}

/// The same for programs.
func configurationJSON(_ values: [ConfiguredValue], file: String) -> JSONValue {
  let members = values.map { JSONValue(["key": $0.key, "value": $0.value, "source": $0.source.description]) }
  return JSONValue(["file": file, "values": members])
}

/// A value on one line: as it is, or as a JSON string if it has more lines.
private func plain(_ value: String) -> String {
  value.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && !value.contains(" #")
    ? value : JSONValue.string(value).canonicalText()
}
