// Owns what --help says. Options are listed from the tables, so that none is forgotten.

/// The help text of a command, or of the program.
func helpText(_ command: CommandName?) -> String {
  guard let command else {
    return """
      bearer-proxy adds OAuth tokens to requests of an app that knows nothing of OAuth.

      Usage: bearer-proxy [COMMAND] [OPTIONS]

      Commands:
      \(table(CommandName.allCases.map { ($0.rawValue, $0.summary) }))

      'bearer-proxy COMMAND --help' explains a command. Options beat the environment, which beats the file.
      Exit status: 0 done, 1 failed, 2 usage or configuration error, 3 interaction required.

      """
  }
  let options = command.options.map { ($0.usage, $0.summary(in: command)) } + [("-h, --help", "Show this.")]
  return """
    \(command.summary)

    Usage: \(command.usage)

    \(command.details)

    Options:
    \(table(options))

    """
}

private func table(_ rows: [(String, String)]) -> String {
  let width = rows.map(\.0.count).max() ?? 0
  return rows.map { left, right in
    "  \(left)\(String(repeating: " ", count: width - left.count))  \(right)"
  }.joined(separator: "\n")
}

extension CommandName {
  fileprivate var summary: String {
    switch self {
    case .run: "Serve. The default command."
    case .check: "Validate a configuration and start nothing."
    case .token: "Show what silent acquisition gives a route."
    case .version: "Show the version."
    }
  }

  fileprivate var usage: String {
    switch self {
    case .run: "bearer-proxy [run] -c FILE [OPTIONS]"
    case .check: "bearer-proxy check -c FILE"
    case .token: "bearer-proxy token -c FILE --route NAME [--json] [--reveal]"
    case .version: "bearer-proxy version [--json]"
    }
  }

  fileprivate var details: String {
    switch self {
    case .run:
      "Listens where the configuration says, until SIGTERM or SIGINT: then finishes what is in flight and exits 0."
    case .check:
      "Reports every mistake as FILE:LINE:COLUMN: error: MESSAGE and exits 2, or says that there is none and exits 0."
    case .token:
      "Asks the identity provider as the proxy would for this route. Exits 3 where a person has to sign in first."
    case .version:
      "The version follows Semantic Versioning."
    }
  }
}

extension Option {
  fileprivate var usage: String {
    let short = letter.map { "-\($0), " } ?? ""
    let value = valueName.map { " \($0)" } ?? ""
    return "\(short)--\(rawValue)\(value)"
  }

  fileprivate func summary(in command: CommandName) -> String {
    let text =
      switch self {
      case .config: "The configuration file."
      case .logLevel: "debug, info, warning or error, instead of the file's."
      case .logFormat: "json or text, instead of the file's."
      case .loops: "Event loops, 1 to 256, instead of the file's."
      case .route: "The route, by its name in the configuration."
      case .json: command == .token ? "Answer in JSON. Contains the token only with --reveal." : "Answer in JSON."
      case .reveal: "Show the token itself. Whoever sees it can use it."
      case .help: "Show this."
      }
    return variable.map { "\(text) [\($0)]" } ?? text
  }
}
