// Owns what makes fish complete command lines.

/// A file for a directory of fish's completions, under the name `bearer-proxy.fish`.
func fishCompletion() -> String {
  var lines = [
    "# fish completion for bearer-proxy, made by 'bearer-proxy completion fish'.", "complete -c bearer-proxy -f",
  ]
  for command in CommandName.allCases {
    let summary = command.summary.quoted(escape: "\\'")
    lines.append("complete -c bearer-proxy -n __fish_use_subcommand -a \(command.rawValue) -d \(summary)")
    lines.append("complete -c bearer-proxy -n '__fish_seen_subcommand_from help' -a \(command.rawValue) -d \(summary)")
    // Without a command word, the command is `run`.
    let place =
      "__fish_seen_subcommand_from \(command.rawValue)" + (command == .run ? "; or __fish_use_subcommand" : "")
    if let operand = command.operand {
      lines.append("complete -c bearer-proxy -n '\(place)' -a '\(operand.words.joined(separator: " "))'")
    }
    for option in command.options + [.help] {
      var line = "complete -c bearer-proxy -n '\(place)' -l \(option.rawValue)"
      if let letter = option.letter { line += " -s \(letter)" }
      if option == .config {
        line += " -r -F"
      } else if option.valueName != nil, !option.isValueOptional {
        line += " -x" + (option.choices.map { " -a '\($0.joined(separator: " "))'" } ?? "")
      }
      lines.append(line + " -d " + option.sentence(in: command).quoted(escape: "\\'"))
    }
  }
  return lines.joined(separator: "\n") + "\n"
}
