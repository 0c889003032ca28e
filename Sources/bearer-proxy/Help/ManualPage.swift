// The manual page. What it says of commands and options is their help.

/// The page `bearer-proxy(1)`, for man: roff with the macros of man(7).
func manualPage() -> String {
  let commands = CommandName.allCases.map(section).joined(separator: "\n")
  return """
    .TH BEARER\\-PROXY 1 "" "bearer\\-proxy \(roff(programVersion))" "User Commands"
    .SH NAME
    bearer\\-proxy \\- \(roff(programSummary))
    .SH SYNOPSIS
    .B bearer\\-proxy
    [\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]
    .SH DESCRIPTION
    An HTTP reverse proxy that runs beside an app without OAuth. The app calls plain HTTP on this \
    machine; the
    proxy finds the route, takes the route's token from memory, adds it, forwards the request over verified TLS and \
    streams
    the answer back.
    .PP
    Options beat the environment, which beats the configuration file.
    .SH COMMANDS
    \(commands)
    .SH EXIT STATUS
    .TP
    .B 0
    Done.
    .TP
    .B 1
    Tried and failed.
    .TP
    .B 2
    The command line or the configuration is wrong; nothing was started.
    .TP
    .B 3
    A person has to sign in or consent first.
    .SH ENVIRONMENT
    \(variables())
    .TP
    .B OTEL_EXPORTER_OTLP_ENDPOINT
    The collector that traces are sent to. Without it requests are not traced; with it, OpenTelemetry's other \
    variables count, too.
    .SH SIGNALS
    .TP
    .BR SIGTERM ", " SIGINT
    Finish what is in flight, up to the configured limit, and exit with status 0; with 1 if tokens could not be \
    written to the cache.
    .TP
    .B SIGHUP
    Read the configuration again. With a mistake in it, the one before stays in force.
    .TP
    .B SIGUSR1
    Open the access log's file again, after it was moved away.
    .SH FILES
    .TP
    .I ./proxy.yaml
    .TQ
    .I $XDG_CONFIG_HOME/bearer\\-proxy/proxy.yaml
    .TQ
    .I /etc/bearer\\-proxy/proxy.yaml
    The configuration: the first that is there counts, unless an option or a variable names another.
    .TP
    .I /usr/local/share/doc/bearer\\-proxy/full.yaml
    Every key of the configuration, with its default and a comment.

    """
}

private func section(_ command: CommandName) -> String {
  let options = (command.options + [.help]).map { option in
    let value =
      option.valueName.map { name in
        option.isValueOptional ? "[=\\fI\(roff(name))\\fR]" : " \\fI\(roff(name))\\fR"
      } ?? ""
    let names = option.spellings.reversed().map { "\\fB\(roff($0))\\fR" }.joined(separator: ", ")
    return ".TP\n\(names)\(value)\n\(roff(option.sentence(in: command)))"
  }
  return """
    .SS \(roff(command.rawValue))
    \(roff(command.summary))
    .PP
    .nf
    \(roff(command.usage))
    .fi
    .PP
    \(paragraph(command.details))
    \(options.joined(separator: "\n"))
    """
}

/// Prose is filled; lines in columns stay as they are.
private func paragraph(_ text: String) -> String {
  text.contains("  ") ? ".nf\n\(roff(text))\n.fi" : roff(text)
}

private func variables() -> String {
  Option.allCases.compactMap { option in
    option.variable.map { ".TP\n.B \(roff($0))\nStands in for \\fB\(roff("--\(option.rawValue)"))\\fR." }
  }.joined(separator: "\n")
}

/// Text as roff prints it: backslashes doubled, hyphens that stay hyphens when copied, and no line that begins a
/// request.
func roff(_ text: String) -> String {
  text.replacing("\\", with: "\\e").replacing("-", with: "\\-").split(separator: "\n", omittingEmptySubsequences: false)
    .map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" + $0 : String($0) }.joined(separator: "\n")
}
