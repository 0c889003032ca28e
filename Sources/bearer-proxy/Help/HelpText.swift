// The output of --help. Options are listed from the tables, so that none is forgotten.

import Bytes

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
