// A program that runs to its end: openssl, curl, Python.

/// The result of a finished program.
package struct CommandResult: Sendable {
  /// Its exit status; 128 plus the signal if one ended it.
  package let status: Int32
  package let output: String
  package let errors: String
}

/// Runs `arguments` to their end and returns what they left, whatever the exit status.
package func run(
  _ arguments: [String], environment: [String: String] = [:], input: String? = nil,
  within limit: Duration = .seconds(60)
) async throws -> CommandResult {
  let child = try ChildProcess("command", arguments, environment: environment, input: input)
  let status = try await child.wait(within: limit)
  let result = CommandResult(status: status, output: child.output, errors: child.errors)
  // These options are there to show a token.
  let isShown = arguments.contains("--reveal") || arguments.contains("--format")
  if arguments.first?.hasSuffix("/bearer-proxy") == true, !isShown {
    ProxyLedger.current?.add(result.output + result.errors, from: arguments.dropFirst().joined(separator: " "))
  }
  return result
}

/// Runs `arguments` to their end; throws with their output if they fail.
@discardableResult
package func succeed(_ arguments: [String], within limit: Duration = .seconds(60)) async throws -> String {
  let result = try await run(arguments, within: limit)
  guard result.status == 0 else {
    throw TestSupportError("\(arguments.joined(separator: " ")) ended with \(result.status): \(result.errors)")
  }
  return result.output
}
