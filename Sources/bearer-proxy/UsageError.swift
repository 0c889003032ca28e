// Owns how a wrong command line is said.

/// What is wrong with the command line, or with a variable that stands in for an option.
enum UsageError: Error, Equatable {
  case unknownCommand(String, suggestion: String?)
  case unknownOption(String, suggestion: String?)
  /// The option stands last, or its value is empty.
  case missingValue(String)
  case unexpectedValue(String)
  case unexpectedWord(String)
  /// Nothing stands where the command needs one of a few words.
  case missingWord(String, among: [String])
  case repeated(String)
  /// `source` is the option or the variable.
  case badValue(source: String, value: String, expected: String)
  case missing(Option)
  case missingOneOf(Option, Option)
  /// The two mean nothing together.
  case together(Option, Option)
  /// The first means nothing without the second.
  case without(Option, Option)

  /// One sentence.
  var message: String {
    switch self {
    case .unknownCommand(let word, let suggestion): "unknown command '\(word)'\(hint(suggestion))"
    case .unknownOption(let word, let suggestion): "unknown option '\(word)'\(hint(suggestion))"
    case .missingValue(let option): "option '\(option)' needs a value"
    case .unexpectedValue(let option): "option '\(option)' takes no value"
    case .unexpectedWord(let word): "unexpected argument '\(word)'"
    case .missingWord(let name, let words): "no \(name) given: one of \(words.joined(separator: ", "))"
    case .repeated(let option): "option '\(option)' is given twice"
    case .badValue(let source, let value, let expected): "\(source) is \(expected), not '\(value)'"
    case .missing(let option):
      option.variable.map { "no \(option.rawValue) given: use --\(option.rawValue) or set \($0)" }
        ?? "no \(option.rawValue) given: use --\(option.rawValue)"
    case .missingOneOf(let one, let other):
      "neither \(one.rawValue) nor \(other.rawValue) given: use --\(one.rawValue) or --\(other.rawValue)"
    case .together(let one, let other): "--\(one.rawValue) and --\(other.rawValue) do not go together"
    case .without(let one, let other): "--\(one.rawValue) means nothing without --\(other.rawValue)"
    }
  }

  private func hint(_ suggestion: String?) -> String {
    suggestion.map { "; did you mean '\($0)'?" } ?? ""
  }
}
