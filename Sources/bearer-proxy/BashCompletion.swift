// Owns what makes bash complete command lines.

/// A script for bash 4.4 and newer.
func bashCompletion() -> String {
  let names = CommandName.allCases.map(\.rawValue).joined(separator: " ")
  let values = Option.allCases.filter {
    $0.valueName != nil && !$0.isValueOptional && $0.choices == nil && $0 != .config
  }
  let choices = Option.allCases.compactMap { option in
    option.choices.map { words in
      "    \(pattern(option))) COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$word\")); return ;;"
    }
  }
  let commands = CommandName.allCases.filter { $0 != .run }.map { command in
    "    \(command.rawValue)) words='\(words(of: command))' ;;"
  }
  return """
    # bash completion for bearer-proxy, made by 'bearer-proxy completion bash'.
    _bearer_proxy() {
      local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words
      # --option=value is three words here.
      if [[ $word == '=' ]]; then
        word=
      elif [[ $previous == '=' ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
      fi
      COMPREPLY=()
      case $previous in
        \(pattern(.config))) compopt -o default; return ;;
    \(choices.joined(separator: "\n"))
        \(values.map(pattern).joined(separator: " | "))) return ;;
      esac
      case $command in
    \(commands.joined(separator: "\n"))
        help) words='\(names)' ;;
        *) words='\(words(of: .run))' ;;
      esac
      if ((COMP_CWORD == 1)); then words="\(names) help --version $words"; fi
      COMPREPLY=($(compgen -W "$words" -- "$word"))
    }
    complete -F _bearer_proxy bearer-proxy

    """
}

private func pattern(_ option: Option) -> String {
  option.spellings.joined(separator: " | ")
}

private func words(of command: CommandName) -> String {
  ((command.operand?.words ?? []) + (command.options + [.help]).flatMap(\.spellings)).joined(separator: " ")
}
