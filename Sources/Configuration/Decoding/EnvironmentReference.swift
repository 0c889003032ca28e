internal import Bytes

/// Replaces `${NAME}` by the variable's value and `$$` by one dollar. What a variable holds is not looked at again.
/// - Returns: the text, and the variables in it, each once.
func substitutingEnvironment(
  in text: String, environment: [String: String]
) throws(UnusableText) -> (text: String, variables: [String]) {
  guard text.utf8.contains(UInt8(ascii: "$")) else { return (text, []) }
  let stray = UnusableText("has a '$' that is neither '${NAME}' nor '$$' (a dollar)")
  var result = ""
  var variables: [String] = []
  var rest = text[...]
  while let dollar = rest.firstIndex(of: "$") {
    result += rest[..<dollar]
    rest = rest[rest.index(after: dollar)...]
    if rest.first == "$" {
      result += "$"
      rest = rest.dropFirst()
      continue
    }
    guard rest.first == "{", let close = rest.firstIndex(of: "}") else { throw stray }
    let name = String(rest[..<close].dropFirst())
    guard isVariableName(name) else { throw stray }
    guard let value = environment[name] else {
      throw UnusableText("refers to '\(name)', which the environment does not have: set it where the process starts")
    }
    result += value
    if !variables.contains(name) { variables.append(name) }
    rest = rest[rest.index(after: close)...]
  }
  return (result + rest, variables)
}

/// POSIX.1-2024 §8.1: letters, digits and underscores, not beginning with a digit.
private func isVariableName(_ name: String) -> Bool {
  guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
  return isPlain(name, allowing: "_")
}
