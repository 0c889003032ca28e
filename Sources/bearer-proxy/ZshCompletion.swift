// Owns what makes zsh complete command lines.

/// A file for a directory of zsh's function path, under the name `_bearer-proxy`; also right after `source`.
func zshCompletion() -> String {
  let names = CommandName.allCases.map { command in
    "    " + "\(command.rawValue):\(command.summary.replacing(":", with: "\\:"))".quoted(escape: escape)
  }
  let commands = CommandName.allCases.map { command in
    let operands = command.operand.map { ["\":\($0.name):(\($0.words.joined(separator: " ")))\""] } ?? []
    let words = operands + (command.options + [.help]).map { specification($0, in: command) }
    return "    \(command.rawValue))\n      _arguments " + words.joined(separator: " \\\n        ") + " ;;"
  }
  return """
    #compdef bearer-proxy
    # zsh completion for bearer-proxy, made by 'bearer-proxy completion zsh'.
    _bearer-proxy() {
      local -a commands=(
    \(names.joined(separator: "\n"))
      )
      if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
        _describe -t commands command commands
        return
      fi
      local command=run
      if [[ $words[2] != -* ]]; then
        command=$words[2]
        shift words
        (( CURRENT-- ))
      fi
      case $command in
        help) _describe -t commands command commands ;;
    \(commands.joined(separator: "\n"))
      esac
    }
    if [[ $funcstack[1] == _bearer-proxy ]]; then
      _bearer-proxy "$@"
    else
      compdef _bearer-proxy bearer-proxy
    fi

    """
}

private let escape = "'\\''"

/// One option as `_arguments` reads it: what excludes it, its spellings, its explanation, its value.
private func specification(_ option: Option, in command: CommandName) -> String {
  var text = option.sentence(in: command)
  for character in ["[", "]"] { text = text.replacing(character, with: "\\" + character) }
  var tail = "[\(text)]"
  if let name = option.valueName {
    let values = option == .config ? "_files" : option.choices.map { "(\($0.joined(separator: " ")))" } ?? " "
    tail += "\(option.isValueOptional ? "::" : ":")\(name):\(values)"
  }
  // '=-': the value stands in the same word.
  let mark = option.valueName == nil ? "" : option.isValueOptional ? "=-" : "="
  let long = "--\(option.rawValue)\(mark)"
  let repeats = option.isRepeatable ? "*" : ""
  guard let letter = option.letter else { return "\(repeats)\(long)\(tail)".quoted(escape: escape) }
  return "'(-\(letter) --\(option.rawValue))'{-\(letter),\(long)}" + tail.quoted(escape: escape)
}
