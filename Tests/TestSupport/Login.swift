// `bearer-proxy login`, and the person who does what it says.

import Platform

/// A sign-in under way: the command waits for the person.
package final class Login: Sendable {
  package let process: ChildProcess
  private let provider = Locked<String?>(nil)

  /// Starts the command; `options` say for what.
  package init(_ configuration: String, _ options: [String], environment: [String: String] = [:]) throws {
    process = try ChildProcess(
      "login", [binary(), "login", "-c", configuration] + options,
      environment: ["BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""].merging(environment) { $1 })
  }

  /// Signs `person` in at the address or with the code that the command shows, waits for its end, and returns what it
  /// left.
  package static func run(
    _ configuration: String, _ options: [String], person: SigningInPerson
  ) async throws -> CommandResult {
    let login = try Login(configuration, options)
    if options.contains("--device-code") {
      let (address, code) = try await login.deviceCode()
      try await person.signInDevice(at: address, code: code)
    } else {
      try await person.authorize(try await login.address())
    }
    return try await login.result()
  }

  /// The address of this machine that the command wants a browser to go to. It works once.
  package func start() async throws -> String { try await word { $0.hasPrefix("http") ? String($0) : nil } }

  /// The provider's address, to which that one leads.
  package func address() async throws -> String {
    if let known = provider.withLock({ $0 }) { return known }
    let answer = try await curl([try await start()])
    guard let address = answer["location"] else {
      throw TestSupportError("no redirect: \(answer.status) \(answer.body)")
    }
    provider.withLock { $0 = address }
    return address
  }

  /// The address and the code that the command wants a person to bring together.
  package func deviceCode() async throws -> (address: String, code: String) {
    func lastWord(behind name: String) async throws -> String {
      try await word { line in line.hasPrefix(name) ? line.split(separator: " ").last.map(String.init) : nil }
    }
    return (try await lastWord(behind: "address:"), try await lastWord(behind: "code:"))
  }

  /// The result of the command, after its end.
  package func result(within limit: Duration = .seconds(30)) async throws -> CommandResult {
    let status = try await process.wait(within: limit)
    ProxyLedger.current?.add(process.output + process.errors, from: "login")
    return CommandResult(status: status, output: process.output, errors: process.errors)
  }

  /// The result of `read` for the first line of the command's for which it has one, without indentation.
  private func word(_ read: (Substring) -> String?) async throws -> String {
    var found: String?
    _ = try await eventually {
      found =
        process.errors.split(separator: "\n").dropLast(process.errors.hasSuffix("\n") ? 0 : 1)
        .compactMap { read($0.drop { $0 == " " }) }.first
      return found != nil || process.poll() != nil
    }
    guard let found else { throw TestSupportError("login says nothing of the kind: \(process.errors)") }
    return found
  }
}
