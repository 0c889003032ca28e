// Owns the way from words and environment to a command: flags beat the environment, which beats the file. Pure; reads
// no file and prints nothing.

import Configuration

/// The words behind the program's name, read.
struct Arguments {
  private let environment: [String: String]
  private var given: Set<Option> = []
  private var values: [Option: (source: String, text: String)] = [:]

  /// Reads a command line. Without a command word, the command is `run`.
  static func command(
    _ words: [String], environment: [String: String]
  ) throws(UsageError) -> Command {
    var rest = words[...]
    switch rest.first {
    case "--version": return .version(.text)
    case "help":
      rest.removeFirst()
      return .help(try rest.first.map { word throws(UsageError) in try name(word) })
    case "-h", "--help": return .help(nil)
    default: break
    }
    var command = CommandName.run
    if let word = rest.first, !word.hasPrefix("-") {
      command = try name(word)
      rest.removeFirst()
    }
    var arguments = Arguments(environment: environment)
    try arguments.read(rest, of: command)
    return try arguments.command(command)
  }

  private init(environment: [String: String]) {
    self.environment = environment
  }

  private static func name(_ word: String) throws(UsageError) -> CommandName {
    if let name = CommandName(rawValue: word) { return name }
    throw .unknownCommand(word, suggestion: nearestWord(to: word, among: CommandName.allCases.map(\.rawValue)))
  }

  private mutating func read(_ words: ArraySlice<String>, of command: CommandName) throws(UsageError) {
    var rest = words
    while let word = rest.popFirst() {
      guard word.hasPrefix("-"), word != "-" else { throw .unexpectedWord(word) }
      // --name=value, --name value, -n value.
      let equals = word.hasPrefix("--") ? word.firstIndex(of: "=") : nil
      let spelling = String(word[..<(equals ?? word.endIndex)])
      let option = try option(spelling, of: command)
      if !given.insert(option).inserted { throw .repeated(spelling) }
      let attached = equals.map { String(word[word.index(after: $0)...]) }
      if option.valueName == nil {
        if attached != nil { throw .unexpectedValue(spelling) }
      } else {
        guard let value = attached ?? rest.popFirst(), !value.isEmpty else { throw .missingValue(spelling) }
        values[option] = (spelling, value)
      }
    }
  }

  private func option(_ spelling: String, of command: CommandName) throws(UsageError) -> Option {
    let known = command.options + [.help]
    let found = known.first { option in
      spelling == "--\(option.rawValue)" || option.letter.map { spelling == "-\($0)" } == true
    }
    if let found { return found }
    throw .unknownOption(spelling, suggestion: nearestWord(to: spelling, among: known.map { "--\($0.rawValue)" }))
  }

  private func command(_ name: CommandName) throws(UsageError) -> Command {
    if given.contains(.help) { return .help(name) }
    let form = given.contains(.json) ? OutputForm.json : .text
    switch name {
    case .run:
      return .run(
        RunOptions(
          configuration: try text(.config), logLevel: try choice(.logLevel), logFormat: try choice(.logFormat),
          loops: try loops()))
    case .check:
      return .check(configuration: try text(.config))
    case .token:
      return .token(
        TokenOptions(
          configuration: try text(.config), route: try text(.route), form: form, reveal: given.contains(.reveal)))
    case .version:
      return .version(form)
    }
  }

  /// The option's value, or the variable's; an empty variable counts as unset.
  private func value(_ option: Option) -> (source: String, text: String)? {
    if let value = values[option] { return value }
    guard let variable = option.variable, let text = environment[variable], !text.isEmpty else { return nil }
    return (variable, text)
  }

  private func text(_ option: Option) throws(UsageError) -> String {
    guard let value = value(option) else { throw .missing(option) }
    return value.text
  }

  private func choice<Choice: RawRepresentable<String> & CaseIterable>(_ option: Option) throws(UsageError) -> Choice? {
    guard let value = value(option) else { return nil }
    if let choice = Choice(rawValue: value.text) { return choice }
    let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    throw .badValue(source: value.source, value: value.text, expected: "one of \(words)")
  }

  private func loops() throws(UsageError) -> Int? {
    guard let value = value(.loops) else { return nil }
    if let loops = Int(value.text), (1...256).contains(loops) { return loops }
    throw .badValue(source: value.source, value: value.text, expected: "a whole number from 1 to 256")
  }
}
