// The commands and options, and what each takes. Arguments turns words into a command; HelpText explains
// them to people.

import Configuration
import Glibc
import Telemetry
import Tokens

/// A word that says what to do.
enum CommandName: String, CaseIterable {
  case run, check, login, accounts, logout, token, status
  case initialise = "init"
  case engine, exec, completion, man, version

  /// The command's options, besides `--help`.
  var options: [Option] {
    switch self {
    case .run: [.config, .logLevel, .logFormat, .loops]
    case .check: [.config, .live, .route, .probe, .json]
    case .login:
      [
        .config, .application, .route, .deviceCode, .prompt, .loginHint, .domainHint, .extraScope, .claims, .timeout,
        .port, .redirectURI,
      ]
    case .accounts: [.config, .application, .account, .json]
    case .logout: [.config, .account, .application, .revoke]
    case .token: [.config, .route, .json, .reveal, .format, .username]
    case .status: [.config, .json, .wait]
    case .initialise: [.config, .discover]
    case .engine: [.config]
    case .exec: [.config, .program, .keepVariable, .logLevel, .logFormat]
    case .completion, .man: []
    case .version: [.json]
    }
  }

  /// The command's names in other programs.
  var synonyms: [String] {
    switch self {
    case .run: ["serve", "start", "server", "proxy", "up"]
    case .check: ["validate", "test", "verify", "lint", "doctor"]
    case .login: ["signin", "sign-in", "auth", "authenticate"]
    case .accounts: ["account", "users", "whoami", "list"]
    case .logout: ["signout", "sign-out"]
    case .token: ["tokens", "get-token"]
    case .status: ["health", "ps", "ready", "info"]
    case .initialise: ["new", "create", "configure", "setup", "initialise", "initialize"]
    case .engine: ["engines", "nginx", "envoy", "caddy", "haproxy", "traefik"]
    case .exec: ["with", "wrap", "launch"]
    case .completion: ["completions"]
    case .man: ["manual"]
    case .version: []
    }
  }

  /// The word after the command, without dashes: its name in the help, and the permitted words.
  var operand: (name: String, words: [String])? {
    switch self {
    case .completion: ("SHELL", Shell.allCases.map(\.rawValue))
    case .engine: ("ENGINE", Engine.allCases.map(\.rawValue))
    case .token: ("OPERATION", TokenOperation.allCases.map(\.rawValue))
    default: nil
    }
  }
}

/// A word that begins with dashes.
enum Option: String, CaseIterable {
  case config
  case logLevel = "log-level"
  case logFormat = "log-format"
  case loops, route, program
  case keepVariable = "keep-variable"
  case json, reveal, format, username, revoke, application
  case deviceCode = "device-code"
  case prompt
  case loginHint = "login-hint"
  case domainHint = "domain-hint"
  case extraScope = "extra-scope"
  case claims, timeout, port
  case redirectURI = "redirect-uri"
  case account, wait, live, probe, discover, help

  /// `-c` for `--config`.
  var letter: Character? {
    switch self {
    case .config: "c"
    case .help: "h"
    default: nil
    }
  }

  /// The name of its value in help texts; nil for an option without a value.
  var valueName: String? {
    switch self {
    case .config: "FILE"
    case .logLevel: "LEVEL"
    case .logFormat, .format: "FORMAT"
    case .loops, .port: "NUMBER"
    case .route, .program, .username, .application: "NAME"
    case .keepVariable: "VARIABLE"
    case .prompt: "PROMPT"
    case .loginHint: "USERNAME"
    case .domainHint: "DOMAIN"
    case .extraScope: "SCOPE"
    case .claims: "JSON"
    case .timeout: "TIME"
    case .redirectURI: "URI"
    case .account: "ACCOUNT"
    case .wait: "SECONDS"
    case .probe: "PATH"
    case .discover: "URL"
    case .json, .reveal, .revoke, .deviceCode, .live, .help: nil
    }
  }

  /// True if its value may be omitted; a value is then attached with '='.
  var isValueOptional: Bool { self == .wait }

  /// The permitted words for its value; nil if any text is permitted.
  var choices: [String]? {
    switch self {
    case .logLevel: LogLevel.allCases.map(\.rawValue)
    case .logFormat: LogFormat.allCases.map(\.rawValue)
    case .prompt: Prompt.allCases.map(\.rawValue)
    case .format: TokenFormat.allCases.map(\.rawValue)
    default: nil
    }
  }

  /// The names of the configuration that its value is one of.
  var names: NameList? {
    switch self {
    case .route: .routes
    case .application: .applications
    default: nil
    }
  }

  /// True if it may be repeated, each time with another value.
  var isRepeatable: Bool { self == .extraScope || self == .keepVariable }

  /// The environment variable that replaces the option.
  var variable: String? {
    switch self {
    case .config: "BEARER_PROXY_CONFIG"
    case .logLevel: "BEARER_PROXY_LOG_LEVEL"
    case .logFormat: "BEARER_PROXY_LOG_FORMAT"
    case .loops: "BEARER_PROXY_LOOPS"
    default: nil
    }
  }
}

/// The usual places of a configuration, the first of which counts.
struct ConfigurationSearch {
  let places: [String]

  /// `$XDG_CONFIG_HOME` counts only as an absolute path (XDG Base Directory Specification).
  init(environment: [String: String]) {
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let named = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let personal = (named ?? home.map { "\($0)/.config" }).map { "\($0)/bearer-proxy/proxy.yaml" }
    places = ["./proxy.yaml"] + [personal].compactMap(\.self) + ["/etc/bearer-proxy/proxy.yaml"]
  }

  /// The first file that is there. One of another user is an error: the working directory may be `/tmp`.
  /// - Parameter owner: finds the owner of a file; nil if there is none.
  func file(user: UInt32 = geteuid(), owner: (String) -> UInt32? = owner) throws(UsageError) -> String {
    for place in places {
      guard let owner = owner(place) else { continue }
      if owner == user || owner == 0 { return place }
      throw UsageError("\(place) belongs to another user; to use it, name it: -c \(place)")
    }
    throw UsageError(
      "no configuration: none is named with -c or BEARER_PROXY_CONFIG, and there is no "
        + "\(places.joined(separator: ", no ")). 'bearer-proxy init' writes a first one")
  }
}

private func owner(_ path: String) -> UInt32? {
  var status = stat()
  return stat(path, &status) == 0 ? status.st_uid : nil
}
