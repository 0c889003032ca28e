// The commands that words and variables make, and the messages for those that make none.

import Configuration
import Telemetry
import Testing

@testable import bearer_proxy

@Suite struct `Command lines` {
  static let environment = ["BEARER_PROXY_CONFIG": "env.yaml", "BEARER_PROXY_LOG_LEVEL": "error", "PATH": "/bin"]
  static let variables: Set = ["BEARER_PROXY_LOG_LEVEL"]

  static let right: [([String], Command)] = [
    (["run", "-c", "f.yaml"], .run(RunOptions(configuration: "f.yaml", logLevel: .error, variables: variables))),
    (["--config=f.yaml"], .run(RunOptions(configuration: "f.yaml", logLevel: .error, variables: variables))),
    ([], .run(RunOptions(configuration: "env.yaml", logLevel: .error, variables: variables))),
    (
      ["run", "--log-level", "debug", "--log-format=text", "--loops", "4"],
      .run(RunOptions(configuration: "env.yaml", logLevel: .debug, logFormat: .text, loops: 4))
    ),
    (["check"], .check(configuration: "env.yaml")),
    (["check", "--config", "--odd--"], .check(configuration: "--odd--")),
    (["check", "--live"], .checkLive(LiveCheck(configuration: "env.yaml", form: .text))),
    (
      ["check", "--live", "--route", "a", "--probe", "me?x=1", "--json"],
      .checkLive(LiveCheck(configuration: "env.yaml", route: "a", probe: "me?x=1", form: .json))
    ),
    (
      ["token", "--route", "orders"],
      .token(TokenCommand(configuration: "env.yaml", route: "orders", form: .text, reveal: false))
    ),
    (
      ["token", "--reveal", "-c", "f", "--json", "--route=orders"],
      .token(TokenCommand(configuration: "f", route: "orders", form: .json, reveal: true))
    ),
    (
      ["token", "--route", "git", "--format", "git", "--username", "me", "get"],
      .token(
        TokenCommand(
          configuration: "env.yaml", route: "git", form: .text, reveal: false, format: .git, operation: .get,
          username: "me"))
    ),
    (
      ["exec", "-c", "f", "--program", "kafka", "--", "run", "--loops", "--", "x"],
      .exec(
        ExecCommand(
          configuration: "f", program: "kafka", logLevel: .error, logFormat: nil, words: ["run", "--loops", "--", "x"]))
    ),
    (
      ["exec", "-c", "f", "--keep-variable", "A", "--keep-variable=B", "--", "x"],
      .exec(
        ExecCommand(
          configuration: "f", program: nil, logLevel: .error, logFormat: nil, keptVariables: ["A", "B"], words: ["x"]))
    ),
    (["status"], .status(StatusCommand(configuration: "env.yaml", form: .text))),
    (["status", "--wait", "--json"], .status(StatusCommand(configuration: "env.yaml", form: .json, wait: 60))),
    (["status", "--wait=5", "-c", "f"], .status(StatusCommand(configuration: "f", form: .text, wait: 5))),
    (["init"], .initialise(configuration: "env.yaml")), (["init", "-c", "f"], .initialise(configuration: "f")),
    (["completion", "zsh"], .completion(.zsh)), (["man"], .man), (["completion", "--help"], .help(.completion)),
    (["version"], .version(.text)), (["version", "--json"], .version(.json)), (["--version"], .version(.text)),
    (["-V"], .version(.text)),
    (["--help"], .help(nil)), (["-h"], .help(nil)), (["help"], .help(nil)), (["help", "check"], .help(.check)),
    (["check", "--help"], .help(.check)), (["run", "--loops", "2", "-h"], .help(.run)),
  ]

  @Test(arguments: right)
  func `words become a command`(words: [String], expected: Command) throws {
    #expect(try Arguments.command(words, environment: Self.environment) == expected)
  }

  static let wrong: [([String], String)] = [
    (["token", "--route", "a", "--format", "git", "gte"], "OPERATION is one of get, store, erase, list, not 'gte'"),
    (["token", "--route", "a", "--format", "plain", "get"], "unexpected argument 'get'"),
    (["token", "orders"], "unexpected argument 'orders'; did you mean '--route orders'?"),
    (
      ["token", "--route", "a", "--format", "yaml"], "--format is one of plain, json, git, kubectl, docker, not 'yaml'"
    ),
    (["token", "--route", "a", "--format", "json", "--json"], "--format and --json do not go together"),
    (["token", "--route", "a", "--username", "u"], "--username means nothing without --format"),
    (["chekc"], "unknown command 'chekc'; did you mean 'check'?"), (["zebra"], "unknown command 'zebra'"),
    (["exec"], "no program given: bearer-proxy exec [OPTIONS] -- PROGRAM [ARGUMENTS]"),
    (["exec", "ls"], "unexpected argument 'ls'"), (["run", "--", "x"], "unknown option '--'"),
    (["serve"], "unknown command 'serve'; did you mean 'run'?"),
    (["start"], "unknown command 'start'; did you mean 'run'?"),
    (["validate"], "unknown command 'validate'; did you mean 'check'?"),
    (["signin", "--route", "a"], "unknown command 'signin'; did you mean 'login'?"),
    (["help", "tokn"], "unknown command 'tokn'; did you mean 'token'?"),
    (["check", "--confg", "f"], "unknown option '--confg'; did you mean '--config'?"),
    (["check", "--loops", "2"], "unknown option '--loops'"), (["check", "-x"], "unknown option '-x'"),
    (["-"], "unexpected argument '-'"), (["check", "f"], "unexpected argument 'f'"),
    (["token", "api"], "unexpected argument 'api'; did you mean '--route api'?"),
    (["check", "--live", "api"], "unexpected argument 'api'; did you mean '--route api'?"),
    (["token", "--route", "a", "b"], "unexpected argument 'b'"),
    (["logout", "me@example.org"], "unexpected argument 'me@example.org'; did you mean '--account me@example.org'?"),
    (["check", "f.yaml"], "unexpected argument 'f.yaml'; -c names the configuration: bearer-proxy check -c f.yaml"),
    (["run", "f.yml"], "unexpected argument 'f.yml'; -c names the configuration: bearer-proxy run -c f.yml"),
    (["f.yaml"], "unexpected argument 'f.yaml'; -c names the configuration: bearer-proxy run -c f.yaml"),
    (["run", "-c", "a", "f.yaml"], "unexpected argument 'f.yaml'"),
    (["check", "-c"], "option '-c' needs a value"), (["check", "--config="], "option '--config' needs a value"),
    (["version", "--json=yes"], "option '--json' takes no value"),
    (["check", "-c", "a", "--config", "b"], "option '--config' is given twice"),
    (["run", "--loops", "0"], "--loops is a whole number from 1 to 256, not '0'"),
    (["run", "--loops", "two"], "--loops is a whole number from 1 to 256, not 'two'"),
    (["run", "--log-level=loud"], "--log-level is one of debug, info, warning, error, not 'loud'"),
    (["check", "--json"], "--json means nothing without --live"),
    (["check", "--probe", "me"], "--probe means nothing without --live"),
    (["login", "-c", "f"], "neither application nor route given: use --application or --route"),
    (["check", "--live", "--probe", "../up"], "--probe is a path without '..', blanks and fragment, not '../up'"),
    (["status", "--wait", "5"], "unexpected argument '5'"), (["status", "--wait="], "option '--wait' needs a value"),
    (["status", "--wait=soon"], "--wait is a whole number of seconds up to 86400, not 'soon'"),
    (["token"], "no route given: use --route"), (["completion"], "no SHELL given: one of bash, zsh, fish"),
    (["completion", "tcsh"], "SHELL is one of bash, zsh, fish, not 'tcsh'"),
    (["completion", "zsh", "fish"], "unexpected argument 'fish'"), (["man", "run"], "unexpected argument 'run'"),
  ]

  @Test(arguments: wrong)
  func `wrong words are refused`(words: [String], expected: String) {
    #expect(refusal(words, Self.environment) == expected)
  }

  static let wrongVariables: [([String: String], String)] = [
    ([:], "no config given: use --config or set BEARER_PROXY_CONFIG"),
    (["BEARER_PROXY_CONFIG": ""], "no config given: use --config or set BEARER_PROXY_CONFIG"),
    (
      ["BEARER_PROXY_CONFIG": "f", "BEARER_PROXY_LOOPS": "all"],
      "BEARER_PROXY_LOOPS is a whole number from 1 to 256, not 'all'"
    ),
    (
      ["BEARER_PROXY_CONFIG": "f", "BEARER_PROXY_LOG_FORMAT": "xml"],
      "BEARER_PROXY_LOG_FORMAT is one of json, text, not 'xml'"
    ),
  ]

  @Test(arguments: wrongVariables)
  func `wrong variables are refused by name`(environment: [String: String], expected: String) {
    #expect(refusal([], environment) == expected)
  }

  @Test func `a flag makes a wrong variable irrelevant`() throws {
    let command = try Arguments.command(["-c", "f", "--loops", "3"], environment: ["BEARER_PROXY_LOOPS": "all"])
    #expect(command == .run(RunOptions(configuration: "f", loops: 3)))
  }

  static let places: [([String: String], [String])] = [
    ([:], ["./proxy.yaml", "/etc/bearer-proxy/proxy.yaml"]),
    (["HOME": "/home/a"], ["./proxy.yaml", "/home/a/.config/bearer-proxy/proxy.yaml", "/etc/bearer-proxy/proxy.yaml"]),
    (
      ["HOME": "/home/a", "XDG_CONFIG_HOME": "/x"],
      ["./proxy.yaml", "/x/bearer-proxy/proxy.yaml", "/etc/bearer-proxy/proxy.yaml"]
    ),
    (["HOME": "here", "XDG_CONFIG_HOME": "x"], ["./proxy.yaml", "/etc/bearer-proxy/proxy.yaml"]),
  ]

  @Test(arguments: places)
  func `a configuration that is not named is looked for in the usual places`(
    environment: [String: String], places: [String]
  ) throws {
    let search = ConfigurationSearch(environment: environment)
    #expect(search.places == places)
    for (index, place) in places.enumerated() {
      #expect(try search.file(user: 7) { places[index...].contains($0) ? 7 : nil } == place)
      #expect(try search.file(user: 7) { $0 == place ? 0 : nil } == place)
      let foreign = UsageError("\(place) belongs to another user; to use it, name it: -c \(place)")
      #expect(throws: foreign) { try search.file(user: 7) { $0 == place ? 8 : nil } }
    }
    let missing = #expect(throws: UsageError.self) { try search.file(user: 7) { _ in nil } }
    #expect(missing?.message.contains("there is no \(places.joined(separator: ", no ")). 'bearer-proxy init'") == true)
    let found = try Arguments.command(["check"], environment: [:]) { () throws(UsageError) in "found.yaml" }
    #expect(found == .check(configuration: "found.yaml"))
  }

  @Test func `init has a file if none is named`() throws {
    #expect(try Arguments.command(["init"], environment: [:]) == .initialise(configuration: "proxy.yaml"))
  }

  @Test(arguments: CommandName.allCases)
  func `help names every option and variable of a command`(command: CommandName) {
    let text = helpText(command)
    for option in command.options + [.help] {
      #expect(text.contains("--\(option.rawValue)"))
      if let variable = option.variable { #expect(text.contains(variable)) }
    }
    #expect(helpText(nil).contains("  \(command.rawValue) "))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 120 })
  }

  private func refusal(_ words: [String], _ environment: [String: String]) -> String? {
    do throws(UsageError) {
      _ = try Arguments.command(words, environment: environment)
      return nil
    } catch {
      return error.message
    }
  }
}
