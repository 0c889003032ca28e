// The output of --help. Options are listed from the tables, so that none is forgotten.

import Identity

/// The description behind the program's name.
let programSummary = "adds OAuth tokens to requests of an app that knows nothing of OAuth"

func helpText(_ command: CommandName?) -> String {
  guard let command else {
    return """
      bearer-proxy \(programSummary).

      Usage: bearer-proxy [COMMAND] [OPTIONS]

      Commands:
      \(table(CommandName.allCases.map { ($0.rawValue, $0.summary) }))

      'bearer-proxy COMMAND --help' explains a command. Options beat the environment, which beats the file.
      The configuration is what -c or BEARER_PROXY_CONFIG names, else the first that exists of ./proxy.yaml, \
      $XDG_CONFIG_HOME/bearer-proxy/proxy.yaml (~/.config/…) and /etc/bearer-proxy/proxy.yaml.
      Exit status: 0 done, 1 failed, 2 usage or configuration error, 3 interaction required.

      """.wrapped()
  }
  let options = command.options.map { ($0.usage, $0.summary(in: command)) } + [("-h, --help", "Show this.")]
  return """
    \(command.summary)

    Usage: \(command.usage)

    \(command.details)

    Options:
    \(table(options))

    """.wrapped()
}

private func table(_ rows: [(String, String)]) -> String {
  let width = rows.map(\.0.count).max() ?? 0
  return rows.map { left, right in
    "  \(left.padded(width))  \(right)".wrapped(indentation: width + 4)
  }.joined(separator: "\n")
}

extension String {
  /// The text with lines of at most 80 columns; the lines that this adds are indented.
  func wrapped(indentation: Int = 0) -> String {
    split(separator: "\n", omittingEmptySubsequences: false).map { line in
      var lines: [String] = []
      var rest = line
      while rest.count > 80, let blank = rest.prefix(81).dropFirst(indentation + 1).lastIndex(of: " ") {
        lines.append(String(rest[..<blank]))
        rest = String(repeating: " ", count: indentation) + rest[rest.index(after: blank)...]
      }
      return (lines + [String(rest)]).joined(separator: "\n")
    }.joined(separator: "\n")
  }
}

extension CommandName {
  /// One sentence, or two.
  var summary: String {
    switch self {
    case .run: "Serve. The default command."
    case .check: "Validate a configuration, and try what it says with --live. Starts nothing."
    case .login: "Sign a person in, so that routes get tokens in their name."
    case .accounts: "List who is signed in, and the state of their tokens."
    case .logout: "Sign a person out."
    case .token: "Show what silent acquisition gives a route."
    case .status: "Ask the running instance for its state and that of each route."
    case .initialise: "Ask a few questions and write a first configuration."
    case .engine: "Print the configuration of a proxy in front, such as nginx, which asks for the tokens of routes."
    case .exec: "Start a program that gets tokens in a shape that it knows, and end with it."
    case .completion: "Print what makes a shell complete command lines."
    case .man: "Print the manual page."
    case .version: "Show the version."
    }
  }

  var usage: String {
    switch self {
    case .run: "bearer-proxy [run] [-c FILE] [OPTIONS]"
    case .check: "bearer-proxy check [-c FILE] [--live [--route NAME] [--probe PATH] [--json]]"
    case .login: "bearer-proxy login [-c FILE] --application NAME | --route NAME [--device-code] [OPTIONS]"
    case .accounts: "bearer-proxy accounts [-c FILE] [--application NAME] [--account ACCOUNT] [--json]"
    case .logout: "bearer-proxy logout [-c FILE] --account ACCOUNT [--application NAME] [--revoke]"
    case .token: "bearer-proxy token [-c FILE] --route NAME [--json | --format FORMAT] [--reveal] [OPERATION]"
    case .status: "bearer-proxy status [-c FILE] [--json] [--wait[=SECONDS]]"
    case .initialise: "bearer-proxy init [-c FILE | --discover URL]"
    case .engine: "bearer-proxy engine ENGINE [-c FILE]"
    case .exec: "bearer-proxy exec [-c FILE] [--program NAME] -- PROGRAM [ARGUMENTS]"
    case .completion: "bearer-proxy completion bash | zsh | fish"
    case .man: "bearer-proxy man"
    case .version: "bearer-proxy version [--json]"
    }
  }

  /// More facts, one paragraph to a line.
  var details: String {
    switch self {
    case .run:
      "Listens at the configured addresses until SIGTERM or SIGINT: then finishes what is in flight and exits 0."
    case .check:
      """
      Reports every mistake as FILE:LINE:COLUMN: error: MESSAGE and exits 2, or reports that there is none and exits \
      0. What is allowed and hardly ever meant is a warning.
      With --live each route's chain is tried, link by link: the authority's metadata, a token, the redirect URI of a \
      sign-in, the provider's clock, name, connection and TLS of the upstream, a GET of the route's 'probe', and the \
      health of a gRPC server. Each has its time, its verdict, and what to do. Exits 0 if all is well, 3 if only a \
      person's sign-in is missing, and 1 otherwise.
      """
    case .login:
      """
      Opens a browser on this machine, or shows a code for a browser elsewhere, and keeps what comes of it in the \
      cache's file. A running proxy notices within a second.
      Nothing is kept of another person than the route's account, or than the only one who is signed in; if several \
      are possible, you are asked once. Exits 3 if the provider or the person says no, 1 for every other bad end, such \
      as another person than the one who is meant.
      """
    case .accounts:
      """
      Reads the cache; asks no provider. Never shows a token. People are in the order of their names; if a Redis \
      server has more than \(CacheStore.holdLimit), in the order of the last change.
      """
    case .logout:
      """
      Removes the account and its tokens from the cache, as every MSAL does, at one identity provider: if several know \
      a person of that name, it asks, or takes --application. A running proxy notices within a second.
      With --revoke, the provider ends the refresh tokens first; if it does not, nothing is removed.
      The sign-in of the person's browser at the provider is another one and stays.
      """
    case .token:
      """
      Asks the identity provider as the proxy would for this route, and describes the token. Exits 3 if a person has \
      to sign in first.
      With --format, it asks the running proxy on the unix socket of its admin listener, and prints the token for a \
      program: plain (nothing else), json, git (a credential helper), kubectl (ExecCredential) or docker (a credential \
      helper). Only the proxy's own user and root get it. At a terminal it needs --reveal. git and docker append an \
      OPERATION and name the server on standard input: for another server than the route's upstream there is no token. \
      docs/commands.md has examples.
      """
    case .status:
      """
      Asks the instance that runs with this configuration, also if the file has mistakes by now. Exits 0 if the \
      instance is ready, as /readyz says it, and 1 if it is not or does not answer.
      """
    case .initialise:
      """
      Asks for the identity provider, the application and the first route, and overwrites nothing. A client secret \
      goes into a file of its own, which no other user may read. With --discover it asks the API instead (RFC 9728) \
      and its provider, and prints a configuration and what is to be registered by hand; nothing is written.
      """
    case .engine:
      """
      ENGINE is \(Engine.allCases.map(\.rawValue).joined(separator: ", ")). The routes are those with 'hand_out: \
      proxies', and the listener is the first such one that the engine can use. What is yours to say is marked CHANGE. \
      docs/engines.md explains it.
      """
    case .exec:
      """
      NAME is one of 'programs' in the configuration; its shape decides which variables PROGRAM gets: \
      IDENTITY_ENDPOINT and IDENTITY_HEADER, or BEARER_PROXY_TOKEN_URL, \
      BEARER_PROXY_CLIENT_ID and BEARER_PROXY_CLIENT_SECRET. Port and secret are of this run alone. Listeners of the \
      configuration are not opened. PROGRAM does not get the variables that secrets of the configuration come from.
      Passes SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and SIGWINCH on, and ends with PROGRAM's status: 128 \
      and the signal if one ended it, 126 or 127 if it cannot be started.
      """
    case .completion:
      """
      bash:  bearer-proxy completion bash > /usr/local/share/bash-completion/completions/bearer-proxy
      zsh:   bearer-proxy completion zsh > /usr/local/share/zsh/site-functions/_bearer-proxy
      fish:  bearer-proxy completion fish > ~/.config/fish/completions/bearer-proxy.fish
      """
    case .man:
      "To read it: bearer-proxy man | man -l -"
    case .version:
      "The version follows Semantic Versioning."
    }
  }
}

extension Option {
  /// Its spelling, with its value's name.
  var usage: String {
    let short = letter.map { "-\($0), " } ?? ""
    let value = valueName.map { isValueOptional ? "[=\($0)]" : " \($0)" } ?? ""
    return "\(short)--\(rawValue)\(value)"
  }

  /// Its effect, with the variable that replaces it.
  func summary(in command: CommandName) -> String {
    variable.map { "\(sentence(in: command)) [\($0)]" } ?? sentence(in: command)
  }

  func sentence(in command: CommandName) -> String {
    switch self {
    case .config:
      command == .initialise
        ? "The file to write; \(Command.firstConfiguration) unless said."
        : "The configuration file, if not in one of the usual places."
    case .logLevel: "debug, info, warning or error, instead of the file's."
    case .logFormat: "json or text, instead of the file's."
    case .loops: "Event loops, 1 to 256, instead of the file's."
    case .route where command == .check: "Only this route."
    case .route:
      command == .login ? "Sign in for what this route needs." : "The route, by its name in the configuration."
    case .application where command == .accounts: "List the people of this application only."
    case .application where command == .logout: "Sign out at the identity provider of this application."
    case .application: "Sign in to this application, for all its routes of one account."
    case .program: "The program, by its name in the configuration; the only one unless said."
    case .keepVariable: "Leave PROGRAM this variable, although a secret of the configuration is in it. May be repeated."
    case .deviceCode: "Show a code to type in on any device, instead of opening a browser here."
    case .prompt: "What to show: select_account, consent, login, create, or none to succeed or fail at once."
    case .loginHint: "Whom the provider is told to expect."
    case .domainHint: "Begin at the sign-in page of this domain (Microsoft), of organizations or consumers."
    case .extraScope: "Consent to this scope of another API too. May be repeated."
    case .claims: "What else to prove, as an API's challenge says it."
    case .timeout: "How long to wait for the browser, 1s to 1h; 5m unless said."
    case .port: "Bring the browser back to this port of localhost, for providers that compare ports."
    case .redirectURI: "Bring the browser back to this URI of localhost or 127.0.0.1, with or without a port."
    case .discover: "Print what this API says about its tokens, instead of asking."
    case .live: "Try the authority, the token and the upstream of every route."
    case .probe: "What to GET from the upstreams, behind their paths, instead of what the routes say."
    case .wait: "Wait until the instance is ready, 60 seconds unless said; exits 1 when the time is over."
    case .account where command == .accounts: "List this person only: a user name or an id."
    case .account: "The person: user name, or an id from 'bearer-proxy accounts'."
    case .json: command == .token ? "Answer in JSON. Contains the token only with --reveal." : "Answer in JSON."
    case .revoke: "Have the provider end the tokens too; if it does not, nothing is removed."
    case .format: "Print the running proxy's token for a program: plain, json, git, kubectl or docker."
    case .username: "The user name beside the token for git and docker; \(TokenCommand.usualUsername) unless said."
    case .reveal: "Show the token itself. Everyone who sees it can use it."
    case .help: "Show this."
    }
  }
}
