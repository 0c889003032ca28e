// `bearer-proxy login`, and the person who does what it says.

import Platform

/// A sign-in under way: the command waits for the person.
package final class Login: Sendable {
  /// The process.
  package let process: ChildProcess
  private let provider = Locked<String?>(nil)

  /// Starts the command; `options` say for what.
  package init(
    _ configuration: String, _ options: [String], in directory: TemporaryDirectory, environment: [String: String] = [:]
  ) throws {
    process = try ChildProcess(
      "login-\(FreshName.next())", [binary(), "login", "-c", configuration] + options, in: directory,
      environment: ["BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""].merging(environment) { $1 })
  }

  /// Signs `person` in at the address or with the code that the command shows, waits for its end, and returns what it
  /// left.
  package static func run(
    _ configuration: String, _ options: [String], person: SigningInPerson, in directory: TemporaryDirectory
  ) async throws -> CommandResult {
    let login = try Login(configuration, options, in: directory)
    if options.contains("--device-code") {
      let (address, code) = try await login.deviceCode()
      try await person.signInDevice(at: address, code: code)
    } else {
      try await person.authorize(try await login.address())
    }
    return try await login.result()
  }

  /// The address of this machine that the command wants a browser to go to. It works once.
  package func start() async throws -> String { try await word(thatBegins: "http") }

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
    (try await word(behind: "address:"), try await word(behind: "code:"))
  }

  /// The result of the command, after its end.
  package func result(within limit: Duration = .seconds(30)) async throws -> CommandResult {
    let status = try await process.wait(within: limit)
    ProxyLedger.current?.add(process.output + process.errors, from: "login")
    return CommandResult(status: status, output: process.output, errors: process.errors)
  }

  private func word(behind name: String) async throws -> String {
    try await word { line in line.hasPrefix(name) ? line.split(separator: " ").last.map(String.init) : nil }
  }

  private func word(thatBegins start: String) async throws -> String {
    try await word { line in line.hasPrefix(start) ? String(line) : nil }
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

/// Names for the files of processes that run beside one another.
private enum FreshName {
  static func next() -> String { String(UInt32.random(in: 0 ... .max), radix: 36) }
}
