internal import Bytes
internal import Routing

/// One program in `/status`: its tokens, and those that wait for a person.
struct ProgramStatus {
  let program: Program
  /// Those of all routes.
  let routes: [RouteStatus]

  private var tokens: [String] {
    program.tokens.map { $0.route == nil ? "application \($0.name)" : "route \($0.name)" }
  }

  /// The routes that need a person before the program gets their tokens.
  private var waits: [String] {
    program.tokens.filter { token in
      guard let route = token.route else { return false }
      return routes[route].condition.state == .signInNeeded
    }.map(\.name)
  }

  var line: String {
    let waits = waits
    if waits.isEmpty { return "gets tokens of \(tokens.joined(separator: ", "))" }
    return "waits for a sign-in: see route \(waits.joined(separator: ", "))"
  }

  /// The same for programs; deploy/operations.md describes it.
  var json: JSONValue {
    var members: [String: JSONValue] = [
      "name": .string(program.name), "shape": .string(program.shape.rawValue), "line": .string(line),
      "tokens": .array(tokens.map(JSONValue.string)),
    ]
    if !waits.isEmpty { members["waits_for"] = .array(waits.map(JSONValue.string)) }
    return .object(members)
  }
}
