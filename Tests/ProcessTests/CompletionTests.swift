// The completions of shells, by the shells themselves if they are here, and the names in the manual page.

import Bytes
import TestSupport
import Testing

@testable import bearer_proxy

@Suite struct `Completion` {
  static let lines: [(String, Set<String>)] = [
    ("bearer-proxy lo", ["login", "logout"]), ("bearer-proxy comp", ["completion"]),
    ("bearer-proxy completion ", ["bash", "zsh", "fish", "--help", "-h"]),
    ("bearer-proxy help che", ["check"]), ("bearer-proxy token --re", ["--reveal"]),
    ("bearer-proxy --log-l", ["--log-level"]), ("bearer-proxy run --log-level wa", ["warning"]),
    ("bearer-proxy run --log-level=wa", ["warning"]), ("bearer-proxy login --prompt con", ["consent"]),
    ("bearer-proxy status --wait --js", ["--json"]), ("bearer-proxy token --route or", []),
    ("bearer-proxy check --rev", []),
  ]

  @Test(arguments: lines)
  func `of bash`(line: String, expected: Set<String>) async throws {
    // As bash splits a line: at blanks, and around '='.
    var words = line.replacing("=", with: " = ").split(separator: " ").map(String.init)
    if line.hasSuffix(" ") { words.append("") }
    words[0] = try binary()
    #expect(try await Self.bash(words) == expected)
  }

  /// The offers of bash for the last of these words.
  private static func bash(_ words: [String]) async throws -> Set<String> {
    let script =
      Shell.bash.completion
      + "compopt() { :; }\nCOMP_WORDS=(\(words.map { $0.shellWord }.joined(separator: " ")))\n"
      + "COMP_CWORD=\(words.count - 1)\n_bearer_proxy\n((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "
      + "\"${COMPREPLY[@]}\"\n"
    let result = try await run(["/bin/bash", "-c", script])
    #expect(result.status == 0 && result.errors == "")
    return Set(result.output.split(separator: "\n").map(String.init))
  }

  @Test(arguments: [Shell.bash, .zsh, .fish])
  func `is a script that its shell can read`(shell: Shell) async throws {
    guard let program = Self.program(shell) else { return }
    let directory = try TemporaryDirectory()
    let file = try directory.write(shell.completion, to: "completion")
    let result = try await run([program, "-n", file])
    #expect(result.status == 0 && result.errors == "")
  }

  @Test func `offers every command and option, with its explanation`() {
    func offered(_ words: [String]) -> [Substring] {
      CompletedLine(words).text { _, _ in [] }.split(separator: "\n")
    }
    let commands = CommandName.allCases.map { "\($0.rawValue)\t\($0.summary)" }
    #expect(Set(offered([""]).map(String.init)).isSuperset(of: commands))
    #expect(offered(["help", ""]).map(String.init) == commands)
    for command in CommandName.allCases {
      for option in command.options + [.help] {
        #expect(offered([command.rawValue, "--"]).contains("--\(option.rawValue)\t\(option.sentence(in: command))"))
      }
    }
    #expect(offered(["run", "--config", "x"]) == [":files"] && offered(["--config=x"]) == [":files"])
    #expect(offered(["run", "--log-level=wa"]) == ["--log-level=warning"])
  }

  /// A configuration with mistakes, one of which a shell would obey.
  static let configuration = """
    routes: [{name: orders, upstrem: x}, {name: "$(touch gone)"}, {name: other}, {path: /}]
    applications: {contoso: {}, orbit: {}}

    """

  static let nameLines: [(words: [String], expected: Set<String>)] = [
    (["token", "-c", "FILE", "--route", "or"], ["orders"]),
    (["token", "-c", "FILE", "--route", ""], ["orders", "other"]),
    (["login", "--config", "=", "FILE", "--application", "o"], ["orbit"]),
    (["logout", "-c", "FILE", "--application", ""], ["contoso", "orbit"]),
    (["token", "-c", "FILE.gone", "--route", ""], []),
  ]

  @Test(arguments: nameLines)
  func `of bash has the names of the configuration`(words: [String], expected: Set<String>) async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write(Self.configuration, to: "p.yaml")
    let line = [try binary()] + words.map { $0.replacing("FILE", with: file) }
    #expect(try await Self.bash(line) == expected)
  }

  @Test func `of fish has the names of the configuration`() async throws {
    guard let program = Self.program(.fish) else { return }
    let directory = try TemporaryDirectory()
    let file = try directory.write(Self.configuration, to: "p.yaml")
    #expect(try await Self.fish(program, "bearer-proxy token -c \(file) --route or") == ["orders"])
    #expect(try await Self.fish(program, "bearer-proxy token --config=\(file.dropLast())") == ["--config=\(file)"])
  }

  @Test func `of fish`() async throws {
    guard let program = Self.program(.fish) else { return }
    for (line, expected) in Self.lines where !line.hasSuffix(" ") && !line.contains("=") {
      #expect(try await Self.fish(program, line) == expected, "\(line)")
    }
  }

  /// The offers of fish at the end of a line.
  private static func fish(_ program: String, _ line: String) async throws -> Set<String> {
    let folder = try binary().split(separator: "/").dropLast().joined(separator: "/")
    let script = "set -x PATH /\(folder) $PATH\n\(Shell.fish.completion)\ncomplete -C \(line.shellWord)"
    let result = try await run([program, "-c", script])
    return Set(result.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) })
  }

  /// The shell, if it is here.
  private static func program(_ shell: Shell) -> String? {
    ["/bin/", "/usr/bin/"].map { $0 + shell.rawValue }.first(where: exists)
  }
}

@Suite struct `The manual page` {
  @Test func `names every command, option, variable and exit status`() {
    let page = manualPage()
    for command in CommandName.allCases { #expect(page.contains(".SS \(roff(command.rawValue))\n")) }
    for option in Option.allCases {
      #expect(page.contains(roff("--\(option.rawValue)")))
      if let variable = option.variable { #expect(page.contains(".B \(roff(variable))\n")) }
    }
    for status in [ExitStatus.done, .failed, .usage, .interactionRequired] {
      #expect(page.contains(".B \(status.rawValue)\n"))
    }
  }

  static let texts: [(String, String)] = [
    ("a-b", "a\\-b"), ("C:\\d", "C:\\ed"), (".SH no", "\\&.SH no"), ("x\n'y", "x\n\\&'y"), ("", ""),
    ("a\n\nb", "a\n\nb"),
  ]

  @Test(arguments: texts)
  func `prints text unchanged`(text: String, expected: String) {
    #expect(roff(text) == expected)
  }

  @Test func `is read by man without a warning`() async throws {
    guard exists("/usr/bin/groff") || exists("/usr/bin/mandoc") else { return }
    let directory = try TemporaryDirectory()
    let file = try directory.write(manualPage(), to: "bearer-proxy.1")
    let words =
      exists("/usr/bin/groff")
      ? ["/usr/bin/groff", "-man", "-Tutf8", "-ww", file] : ["/usr/bin/mandoc", "-T", "lint", "-W", "warning", file]
    let result = try await run(words)
    #expect(result.status == 0 && result.errors == "")
    #expect(result.output.contains("--device-code") || words[0].hasSuffix("mandoc"))
  }
}
