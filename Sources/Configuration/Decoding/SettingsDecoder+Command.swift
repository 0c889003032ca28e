// A command that proves an application: a list of words, no shell; variables by their names.

import Bytes
import Tokens

extension SettingsDecoder {
  mutating func assertionCommand(_ section: Section) -> AssertionCommandSettings? {
    let scalars = words(section, .command)
    let (environment, secrets) = variables(section, .environment)
    let timeout = duration(section, .timeout) ?? AssertionCommandSettings.usualTimeout
    let type = chosen(section, .type, of: ClientAssertionType.self)
    guard let scalars, let program = scalars.first else { return nil }
    guard program.text.hasPrefix("/") else {
      return refuse(program, "'\(program.written)' is not the whole path of a program: begin it with '/'")
    }
    if let problem = files.judgeProgram(program.text) {
      report(program, "\(program.text) \(problem)")
    }
    let substituted = scalars.filter { !$0.variables.isEmpty }
    for scalar in substituted { given[scalar.key]?.value = ConfiguredValue.hidden }
    return AssertionCommandSettings(
      program: program.located(program.text), words: scalars.map(\.text), environment: environment,
      secrets: secrets + substituted.map(\.text).filter(Self.isSecret).map { Secret($0) }, timeout: timeout, type: type)
  }

  /// The words of a command: unlike other lists, it may repeat one.
  private mutating func words(_ section: Section, _ key: Key) -> [Scalar]? {
    guard let node = section[key] else { return nil }
    guard case .sequence(let elements) = node.content, !elements.isEmpty else {
      return refuse(node, that: "takes a list: [/path/of/program, argument]; no shell reads it")
    }
    let scalars = elements.map { scalar($0) }
    return scalars.contains { $0 == nil } ? nil : scalars.compactMap(\.self)
  }

  /// The variables that a command gets, with their values.
  private mutating func variables(_ section: Section, _ key: Key) -> (environment: [String], secrets: [Secret]) {
    var (variables, secrets): ([String], [Secret]) = ([], [])
    for scalar in list(section, key) ?? [] {
      guard let value = environment[scalar.text] else {
        report(
          scalar,
          that: "names '\(scalar.written)', which the environment does not have: set it where the process starts")
        continue
      }
      variables.append("\(scalar.text)=\(value)")
      if Self.isSecret(value) { secrets.append(Secret(value)) }
    }
    return (variables, secrets)
  }

  /// True if errors must not show a variable's value: it is no path, and no address without a password.
  private static func isSecret(_ value: String) -> Bool {
    !value.isEmpty && !value.hasPrefix("/") && (!value.contains("://") || value.contains("@"))
  }
}
