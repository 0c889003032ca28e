// The commands and options, and what each takes. Arguments turns words into a command; HelpText explains
// them to people.

import Configuration
import Glibc
import Identity
import Telemetry
import Tokens

/// A word that says what to do.
enum CommandName: String, CaseIterable {
  case run, check, login, accounts, logout, token, status
  case initialise = "init"
  case engine, exec, completion, man, version

  var usage: String { "bearer-proxy \(row.usage)" }
  var options: [Option] { row.options }
  var synonyms: [String] { row.synonyms }
  var operand: (name: String, words: [String])? { row.operand }
  var summary: String { row.summary }
  var details: String { row.details }

  /// The facts of a command.
  private struct Row {
    let usage: String
    /// Besides `--help`.
    var options: [Option] = []
    /// Its names in other programs.
    var synonyms: [String] = []
    /// The word after the command, without dashes: its name in the help, and the permitted words.
    var operand: (name: String, words: [String])?
    /// One sentence, or two.
    let summary: String
    /// More facts, one paragraph to a line.
    let details: String
  }

  private var row: Row {
    switch self {
    case .run:
      Row(
        usage: "[run] [-c FILE] [OPTIONS]", options: [.config, .logLevel, .logFormat, .loops],
        synonyms: ["serve", "start", "server", "proxy", "up"], summary: "Serve. The default command.",
        details: """
          Listens at the configured addresses until SIGTERM or SIGINT: then finishes what is in flight and exits 0.
          """)
    case .check:
      Row(
        usage: "check [-c FILE] [--live [--route NAME] [--probe PATH] [--json]]",
        options: [.config, .live, .route, .probe, .json], synonyms: ["validate", "test", "verify", "lint", "doctor"],
        summary: "Validate a configuration, and try what it says with --live. Starts nothing.",
        details: """
          Reports every mistake as FILE:LINE:COLUMN: error: MESSAGE and exits 2, or reports that there is none and \
          exits 0. What is allowed and hardly ever meant is a warning.
          With --live each route's chain is tried, link by link: the authority's metadata, a token, the redirect URI \
          of a sign-in, the provider's clock, name, connection and TLS of the upstream, a GET of the route's 'probe', \
          and the health of a gRPC server. Each has its time, its verdict, and what to do. Exits 0 if all is well, 3 \
          if only a person's sign-in is missing, and 1 otherwise.
          """)
    case .login:
      Row(
        usage: "login [-c FILE] --application NAME | --route NAME [--device-code] [OPTIONS]",
        options: [
          .config, .application, .route, .deviceCode, .prompt, .loginHint, .domainHint, .extraScope, .claims, .timeout,
          .port, .redirectURI,
        ],
        synonyms: ["signin", "sign-in", "auth", "authenticate"],
        summary: "Sign a person in, so that routes get tokens in their name.",
        details: """
          Opens a browser on this machine, or shows a code for a browser elsewhere, and keeps what comes of it in the \
          cache's file. A running proxy notices within a second.
          Nothing is kept of another person than the route's account, or than the only one who is signed in; if \
          several are possible, you are asked once. Exits 3 if the provider or the person says no, 1 for every other \
          bad end, such as another person than the one who is meant.
          """)
    case .accounts:
      Row(
        usage: "accounts [-c FILE] [--application NAME] [--account ACCOUNT] [--json]",
        options: [.config, .application, .account, .json], synonyms: ["account", "users", "whoami", "list"],
        summary: "List who is signed in, and the state of their tokens.",
        details: """
          Reads the cache; asks no provider. Never shows a token. People are in the order of their names; if a Redis \
          server has more than \(CacheStore.holdLimit), in the order of the last change.
          """)
    case .logout:
      Row(
        usage: "logout [-c FILE] --account ACCOUNT [--application NAME] [--revoke]",
        options: [.config, .account, .application, .revoke], synonyms: ["signout", "sign-out"],
        summary: "Sign a person out.",
        details: """
          Removes the account and its tokens from the cache, as every MSAL does, at one identity provider: if several \
          know a person of that name, it asks, or takes --application. A running proxy notices within a second.
          With --revoke, the provider ends the refresh tokens first; if it does not, nothing is removed.
          The sign-in of the person's browser at the provider is another one and stays.
          """)
    case .token:
      Row(
        usage: "token [-c FILE] --route NAME [--json | --format FORMAT] [--reveal] [OPERATION]",
        options: [.config, .route, .json, .reveal, .format, .username], synonyms: ["tokens", "get-token"],
        operand: ("OPERATION", TokenOperation.allCases.map(\.rawValue)),
        summary: "Show what silent acquisition gives a route.",
        details: """
          Asks the identity provider as the proxy would for this route, and describes the token. Exits 3 if a person \
          has to sign in first.
          With --format, it asks the running proxy on the unix socket of its admin listener, and prints the token for \
          a program: plain (nothing else), json, git (a credential helper), kubectl (ExecCredential) or docker (a \
          credential helper). Only the proxy's own user and root get it. At a terminal it needs --reveal. git and \
          docker append an OPERATION and name the server on standard input: for another server than the route's \
          upstream there is no token. docs/commands.md has examples.
          """)
    case .status:
      Row(
        usage: "status [-c FILE] [--json] [--wait[=SECONDS]]", options: [.config, .json, .wait],
        synonyms: ["health", "ps", "ready", "info"],
        summary: "Ask the running instance for its state and that of each route.",
        details: """
          Asks the instance that runs with this configuration, also if the file has mistakes by now. Exits 0 if the \
          instance is ready, as /readyz says it, and 1 if it is not or does not answer.
          """)
    case .initialise:
      Row(
        usage: "init [-c FILE | --discover URL]", options: [.config, .discover],
        synonyms: ["new", "create", "configure", "setup", "initialise", "initialize"],
        summary: "Ask a few questions and write a first configuration.",
        details: """
          Asks for the identity provider, the application and the first route, and overwrites nothing. A client secret \
          goes into a file of its own, which no other user may read. With --discover it asks the API instead (RFC \
          9728) and its provider, and prints a configuration and what is to be registered by hand; nothing is written.
          """)
    case .engine:
      Row(
        usage: "engine ENGINE [-c FILE]", options: [.config],
        synonyms: ["engines", "nginx", "envoy", "caddy", "haproxy", "traefik"],
        operand: ("ENGINE", Engine.allCases.map(\.rawValue)),
        summary: "Print the configuration of a proxy in front, such as nginx, which asks for the tokens of routes.",
        details: """
          ENGINE is \(Engine.allCases.map(\.rawValue).joined(separator: ", ")). The routes are those with 'hand_out: \
          proxies', and the listener is the first such one that the engine can use. What is yours to say is marked \
          CHANGE. docs/engines.md explains it.
          """)
    case .exec:
      Row(
        usage: "exec [-c FILE] [--program NAME] -- PROGRAM [ARGUMENTS]",
        options: [.config, .program, .keepVariable, .logLevel, .logFormat], synonyms: ["with", "wrap", "launch"],
        summary: "Start a program that gets tokens in a shape that it knows, and end with it.",
        details: """
          NAME is one of 'programs' in the configuration; its shape decides which variables PROGRAM gets: \
          IDENTITY_ENDPOINT and IDENTITY_HEADER, or BEARER_PROXY_TOKEN_URL, BEARER_PROXY_CLIENT_ID and \
          BEARER_PROXY_CLIENT_SECRET. Port and secret are of this run alone. Listeners of the configuration are not \
          opened. PROGRAM does not get the variables that secrets of the configuration come from.
          Passes SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and SIGWINCH on, and ends with PROGRAM's status: \
          128 and the signal if one ended it, 126 or 127 if it cannot be started.
          """)
    case .completion:
      Row(
        usage: "completion bash | zsh | fish", synonyms: ["completions"],
        operand: ("SHELL", Shell.allCases.map(\.rawValue)), summary: "Print what makes a shell complete command lines.",
        details: """
          bash:  bearer-proxy completion bash > /usr/local/share/bash-completion/completions/bearer-proxy
          zsh:   bearer-proxy completion zsh > /usr/local/share/zsh/site-functions/_bearer-proxy
          fish:  bearer-proxy completion fish > ~/.config/fish/completions/bearer-proxy.fish
          """)
    case .man:
      Row(
        usage: "man", synonyms: ["manual"], summary: "Print the manual page.",
        details: "To read it: bearer-proxy man | man -l -")
    case .version:
      Row(
        usage: "version [--json]", options: [.json], summary: "Show the version.",
        details: "The version follows Semantic Versioning.")
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
