// The way from words and environment to a command: flags beat the environment, which beats the file. Pure; reads no
// file and prints nothing.

import Bytes
import Configuration
import HTTP
import Identity
import Tokens

/// The words behind the program's name, read.
struct Arguments {
  private let environment: [String: String]
  private let findConfiguration: () throws(UsageError) -> String
  private var given: Set<Option> = []
  private var values: [Option: (source: String, text: String)] = [:]
  private var repeated: [Option: [String]] = [:]
  private var operand: String?
  /// The words behind `--`.
  private var program: [String] = []

  /// Reads a command line. Without a command word, the command is `run`.
  /// - Parameter findConfiguration: looks for the configuration file if neither option nor variable names one.
  static func command(
    _ words: [String], environment: [String: String],
    findConfiguration: @escaping () throws(UsageError) -> String = { () throws(UsageError) in throw .missing(.config) }
  ) throws(UsageError) -> Command {
    var rest = words[...]
    switch rest.first {
    case "-V", "--version": return .version(.text)
    case "help":
      rest.removeFirst()
      return .help(try rest.first.map { word throws(UsageError) in try name(word) })
    case "-h", "--help": return .help(nil)
    case "troubleshooting": return .troubleshooting
    case "complete": return .complete(Array(rest.dropFirst()))
    case "document": return .document(rest.dropFirst().first ?? "")
    default: break
    }
    var command = CommandName.run
    if let word = rest.first, !word.hasPrefix("-") {
      command = try name(word)
      rest.removeFirst()
    }
    var arguments = Arguments(environment: environment, findConfiguration: findConfiguration)
    try arguments.read(rest, of: command)
    return try arguments.command(command)
  }

  private init(environment: [String: String], findConfiguration: @escaping () throws(UsageError) -> String) {
    self.environment = environment
    self.findConfiguration = findConfiguration
  }

  private static func name(_ word: String) throws(UsageError) -> CommandName {
    if let name = CommandName(rawValue: word) { return name }
    if isConfigurationName(word) { throw .unnamedConfiguration(word, .run) }
    let suggestion = CommandName.allCases.first { $0.synonyms.contains(word.lowercased()) }?.rawValue
    throw UsageError(
      "unknown command '\(word)'",
      suggestion: suggestion ?? nearestWord(to: word, among: CommandName.allCases.map(\.rawValue)))
  }

  /// True if a word is probably the name of a configuration file.
  private static func isConfigurationName(_ word: String) -> Bool {
    [".yaml", ".yml"].contains { word.hasSuffix($0) }
  }

  private mutating func read(_ words: ArraySlice<String>, of command: CommandName) throws(UsageError) {
    var rest = words
    while let word = rest.popFirst() {
      if word == "--", command == .exec {
        program = Array(rest)
        return
      }
      guard word.hasPrefix("-"), word != "-" else {
        guard command.operand != nil, operand == nil else {
          if command.options.contains(.config), values[.config] == nil, Self.isConfigurationName(word) {
            throw .unnamedConfiguration(word, command)
          }
          throw .unexpectedWord(word, meant: meant(by: word, command))
        }
        operand = word
        continue
      }
      // --name=value, --name value, -n value.
      let equals = word.hasPrefix("--") ? word.firstIndex(of: "=") : nil
      let spelling = String(word[..<(equals ?? word.endIndex)])
      let option = try option(spelling, of: command)
      if !given.insert(option).inserted, !option.isRepeatable {
        throw UsageError("option '\(spelling)' is given twice")
      }
      let attached = equals.map { String(word[word.index(after: $0)...]) }
      if option.valueName == nil {
        if attached != nil { throw UsageError("option '\(spelling)' takes no value") }
      } else if option.isValueOptional, attached == nil {
        continue
      } else {
        guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
          throw UsageError("option '\(spelling)' needs a value")
        }
        values[option] = (spelling, value)
        repeated[option, default: []].append(value)
      }
    }
  }

  /// The option that a word without one is probably the value of.
  private func meant(by word: String, _ command: CommandName) -> Option? {
    if word == "-" || command == .check && !given.contains(.live) { return nil }
    return [Option.route, .account].first { command.options.contains($0) && !given.contains($0) }
  }

  private func option(_ spelling: String, of command: CommandName) throws(UsageError) -> Option {
    let known = command.options + [.help]
    let found = known.first { option in
      spelling == "--\(option.rawValue)" || option.letter.map { spelling == "-\($0)" } == true
    }
    if let found { return found }
    throw UsageError(
      "unknown option '\(spelling)'", suggestion: nearestWord(to: spelling, among: known.map { "--\($0.rawValue)" }))
  }

  private func command(_ name: CommandName) throws(UsageError) -> Command {
    if given.contains(.help) { return .help(name) }
    let form = given.contains(.json) ? OutputForm.json : .text
    switch name {
    case .run:
      return .run(
        RunOptions(
          configuration: try configuration(), logLevel: try choice(.logLevel), logFormat: try choice(.logFormat),
          loops: try parsed(.loops, "a whole number from 1 to 256") { text in
            Int(text).flatMap { (1...256).contains($0) ? $0 : nil }
          },
          variables: Set([Option.logLevel, .logFormat, .loops].compactMap { value($0)?.source })
            .intersection(Option.allCases.compactMap(\.variable))))
    case .check:
      guard given.contains(.live) else {
        for option in [Option.route, .probe, .json] where given.contains(option) { throw .without(option, .live) }
        return .check(configuration: try configuration())
      }
      return .checkLive(
        LiveCheck(
          configuration: try configuration(), route: value(.route)?.text,
          probe: try parsed(.probe, "a path without '..', blanks and fragment") { isProbePath($0) ? $0 : nil },
          form: form))
    case .token:
      return .token(try token(form))
    case .login:
      return .login(try login())
    case .accounts:
      return .accounts(
        AccountsCommand(
          configuration: try configuration(), form: form, application: value(.application)?.text,
          account: value(.account)?.text))
    case .logout:
      return .logout(
        LogoutCommand(
          configuration: try configuration(), account: try text(.account), application: value(.application)?.text,
          revokes: given.contains(.revoke)))
    case .status: return .status(StatusCommand(configuration: try configuration(), form: form, wait: try wait()))
    case .initialise:
      let api = try parsed(.discover, "the URL of an API, such as https://mcp.example/mcp") { HTTPURL(readable: $0) }
      if let api { return .discover(api) }
      return .initialise(configuration: value(.config)?.text ?? Command.firstConfiguration)
    case .engine: return .engine(try word("ENGINE", of: Engine.self), configuration: try configuration())
    case .exec:
      if program.isEmpty { throw UsageError("no program given: bearer-proxy exec [OPTIONS] -- PROGRAM [ARGUMENTS]") }
      return .exec(
        ExecCommand(
          configuration: try configuration(), program: value(.program)?.text, logLevel: try choice(.logLevel),
          logFormat: try choice(.logFormat), keptVariables: repeated[.keepVariable] ?? [], words: program))
    case .completion: return .completion(try word("SHELL", of: Shell.self))
    case .man: return .man
    case .version: return .version(form)
    }
  }

  private func token(_ form: OutputForm) throws(UsageError) -> TokenCommand {
    let format: TokenFormat? = try choice(.format)
    let isHelper = format == .git || format == .docker
    if let operand, !isHelper { throw .unexpectedWord(operand, meant: meant(by: operand, .token)) }
    var options = TokenCommand(
      configuration: try configuration(), route: try text(.route), form: form, reveal: given.contains(.reveal),
      format: format)
    if options.format != nil, form == .json { throw .together(.format, .json) }
    let username = try parsed(.username, "a name without blanks") { text in
      text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } ? text : nil
    }
    if let username {
      guard isHelper else { throw .without(.username, .format) }
      options.username = username
    }
    if operand != nil { options.operation = try word("OPERATION", of: TokenOperation.self) }
    return options
  }

  private func login() throws(UsageError) -> LoginCommand {
    var options = LoginCommand(configuration: try configuration(), target: try target(), way: try way())
    do throws(ScopeError) {
      options.extraScopes = try ScopeSet(repeated[.extraScope] ?? [])
    } catch {
      guard case .word(let word) = error else { return options }
      throw .badValue("--extra-scope", word, expected: "one scope without blanks, quotes, backslashes")
    }
    if let reserved = options.extraScopes.firstReserved {
      throw .badValue("--extra-scope", reserved, expected: "an API's scope")
    }
    options.claims = try parsed(.claims, "a JSON object of at most 16 KiB") { text in
      do throws(ClaimsError) { return try Claims(json: text) } catch { return nil }
    }
    options.domainHint = try parsed(.domainHint, "a domain, organizations or consumers") { DomainHint($0) }
    options.redirect = try redirect()
    let timeout = try parsed(.timeout, "a time from 1s to 1h, such as 5m") { text in
      parsedDuration(text).flatMap { $0 >= .seconds(1) && $0 <= .seconds(3600) ? $0 : nil }
    }
    if let timeout { options.timeout = timeout.nanoseconds / 1_000_000_000 }
    return options
  }

  private func target() throws(UsageError) -> LoginCommand.Target {
    switch (value(.application)?.text, value(.route)?.text) {
    case (let application?, nil): return .application(application)
    case (nil, let route?): return .route(route)
    case (nil, nil): throw UsageError("neither application nor route given: use --application or --route")
    case (.some, .some): throw .together(.application, .route)
    }
  }

  private func way() throws(UsageError) -> LoginCommand.Way {
    guard given.contains(.deviceCode) else {
      return .browser(prompt: try choice(.prompt), hint: value(.loginHint)?.text)
    }
    for option in [Option.prompt, .loginHint, .domainHint, .timeout, .port, .redirectURI] where given.contains(option) {
      throw .together(.deviceCode, option)
    }
    return .deviceCode
  }

  private func redirect() throws(UsageError) -> LoginCommand.Redirect? {
    if value(.port) != nil, value(.redirectURI) != nil { throw .together(.port, .redirectURI) }
    let port = try parsed(.port, "a whole number from 1 to 65535") { UInt16($0).flatMap { $0 > 0 ? $0 : nil } }
    if let port { return .port(port) }
    return try parsed(.redirectURI, "http://localhost or http://127.0.0.1, perhaps with a port and a path") { text in
      LoopbackRedirect(text).map(LoginCommand.Redirect.uri)
    }
  }

  /// The word behind the command, which is one of a few.
  private func word<Word: RawRepresentable<String> & CaseIterable>(
    _ name: String, of: Word.Type
  ) throws(UsageError) -> Word {
    let words = "one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))"
    guard let operand else { throw UsageError("no \(name) given: \(words)") }
    if let word = Word(rawValue: operand) { return word }
    throw .badValue(name, operand, expected: words)
  }

  /// The option's value, or the variable's; an empty variable counts as unset.
  private func value(_ option: Option) -> (source: String, text: String)? {
    if let value = values[option] { return value }
    guard let variable = option.variable, let text = environment[variable], !text.isEmpty else { return nil }
    return (variable, text)
  }

  private func configuration() throws(UsageError) -> String {
    if let value = value(.config) { return value.text }
    return try findConfiguration()
  }

  private func text(_ option: Option) throws(UsageError) -> String {
    guard let value = value(option) else { throw .missing(option) }
    return value.text
  }

  private func choice<Choice: RawRepresentable<String> & CaseIterable>(_ option: Option) throws(UsageError) -> Choice? {
    try parsed(option, "one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))") { Choice(rawValue: $0) }
  }

  /// The option's value as `read` makes it of the text; nil if there is none. A text of which it makes none is not what
  /// is `expected`.
  private func parsed<Value>(
    _ option: Option, _ expected: String, _ read: (String) -> Value?
  ) throws(UsageError) -> Value? {
    guard let value = value(option) else { return nil }
    if let parsed = read(value.text) { return parsed }
    throw .badValue(value.source, value.text, expected: expected)
  }

  private func wait() throws(UsageError) -> UInt64? {
    guard given.contains(.wait) else { return nil }
    let seconds = try parsed(.wait, "a whole number of seconds up to 86400") { text in
      UInt64(text).flatMap { $0 <= 86_400 ? $0 : nil }
    }
    return seconds ?? StatusCommand.patience
  }
}

extension HTTPURL {
  /// nil if the text is no URL.
  init?(readable text: String) {
    do throws(HTTPURLError) { self = try HTTPURL(text) } catch { return nil }
  }
}

/// A mistake in the command line, or in a variable that replaces an option.
struct UsageError: Error, Equatable {
  let message: String

  init(_ message: String, suggestion: String? = nil) {
    self.message = message + (suggestion.map { "; did you mean '\($0)'?" } ?? "")
  }

  /// A configuration file without its option.
  static func unnamedConfiguration(_ word: String, _ command: CommandName) -> UsageError {
    UsageError(
      "unexpected argument '\(word)'; -c names the configuration: bearer-proxy \(command.rawValue) -c \(word)")
  }

  /// - Parameter meant: the option that the word is probably the value of.
  static func unexpectedWord(_ word: String, meant: Option?) -> UsageError {
    UsageError("unexpected argument '\(word)'", suggestion: meant.map { "--\($0.rawValue) \(word)" })
  }

  /// - Parameter source: the option or the variable.
  static func badValue(_ source: String, _ value: String, expected: String) -> UsageError {
    UsageError("\(source) is \(expected), not '\(value)'")
  }

  static func missing(_ option: Option) -> UsageError {
    let variable = option.variable.map { " or set \($0)" } ?? ""
    return UsageError("no \(option.rawValue) given: use --\(option.rawValue)\(variable)")
  }

  /// The two mean nothing together.
  static func together(_ one: Option, _ other: Option) -> UsageError {
    UsageError("--\(one.rawValue) and --\(other.rawValue) do not go together")
  }

  /// The first means nothing without the second.
  static func without(_ one: Option, _ other: Option) -> UsageError {
    UsageError("--\(one.rawValue) means nothing without --\(other.rawValue)")
  }
}
