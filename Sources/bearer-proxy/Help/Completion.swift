// The scripts that make shells complete command lines. They are made from the tables of commands and options.

import Configuration

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
    _bearer-proxy_names() {
      local -a file names
      local -i i
      for ((i = 1; i < CURRENT; i++)); do
        case $words[i] in
          -c | --config) file=(-c "${${(Q)words[i + 1]}/#\\~/$HOME}") ;;
          --config=*) file=(-c "${${(Q)words[i]#--config=}/#\\~/$HOME}") ;;
        esac
      done
      names=(${(f)"$(${(Q)program} completion $1 $file 2> /dev/null)"})
      compadd -a names
    }
    _bearer-proxy() {
      local -a commands=(
    \(names.joined(separator: "\n"))
      )
      if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
        _describe -t commands command commands
        return
      fi
      local program=$words[1] command=run
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
    let values =
      option == .config
      ? "_files"
      : option.names.map { "_bearer-proxy_names \($0.rawValue)" } ?? option.choices.map {
        "(\($0.joined(separator: " ")))"
      } ?? " "
    tail += "\(option.isValueOptional ? "::" : ":")\(name):\(values)"
  }
  // '=-': the value is in the same word.
  let mark = option.valueName == nil ? "" : option.isValueOptional ? "=-" : "="
  let long = "--\(option.rawValue)\(mark)"
  let repeats = option.isRepeatable ? "*" : ""
  guard let letter = option.letter else { return "\(repeats)\(long)\(tail)".quoted(escape: escape) }
  return "'(-\(letter) --\(option.rawValue))'{-\(letter),\(long)}" + tail.quoted(escape: escape)
}

/// A script for bash 4.4 and newer.
func bashCompletion() -> String {
  let names = CommandName.allCases.map(\.rawValue).joined(separator: " ")
  let values = Option.allCases.filter {
    $0.valueName != nil && !$0.isValueOptional && $0.choices == nil && $0.names == nil && $0 != .config
  }
  let known = Option.allCases.compactMap { option in
    let words = option.choices.map { "'\($0.joined(separator: " "))'" }
    return (words ?? option.names.map { "\"$(_bearer_proxy_names \($0.rawValue))\"" }).map { words in
      "    \(pattern(option))) COMPREPLY=($(compgen -W \(words) -- \"$word\")); return ;;"
    }
  }
  let commands = CommandName.allCases.filter { $0 != .run }.map { command in
    "    \(command.rawValue)) words='\(words(of: command))' ;;"
  }
  return """
    # bash completion for bearer-proxy, made by 'bearer-proxy completion bash'.
    _bearer_proxy_names() {
      local i name file=()
      for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
          \(pattern(.config)))
            name=${COMP_WORDS[i + 1]}
            if [[ $name == '=' ]]; then name=${COMP_WORDS[i + 2]}; fi
            file=(-c "${name/#\\~/$HOME}")
            ;;
        esac
      done
      "${COMP_WORDS[0]/#\\~/$HOME}" completion "$1" "${file[@]}" 2> /dev/null
    }
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
    \(known.joined(separator: "\n"))
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

private func pattern(_ option: Option) -> String { option.spellings.joined(separator: " | ") }

private func words(of command: CommandName) -> String {
  ((command.operand?.words ?? []) + (command.options + [.help]).flatMap(\.spellings)).joined(separator: " ")
}

/// A file for a directory of fish's completions, under the name `bearer-proxy.fish`.
func fishCompletion() -> String {
  var lines = [
    "# fish completion for bearer-proxy, made by 'bearer-proxy completion fish'.", "complete -c bearer-proxy -f",
    """
    function __bearer_proxy_names
      set -l words (commandline -opc)
      set -l file
      for i in (seq (count $words))
        switch $words[$i]
          case -c --config
            set file -c $words[(math $i + 1)]
          case '--config=*'
            set file -c (string replace -- '--config=' '' $words[$i])
        end
      end
      command $words[1] completion $argv[1] $file 2> /dev/null
    end
    """,
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
        let words =
          option.names.map { "(__bearer_proxy_names \($0.rawValue))" } ?? option.choices?.joined(separator: " ")
        line += " -x" + (words.map { " -a '\($0)'" } ?? "")
      }
      lines.append(line + " -d " + option.sentence(in: command).quoted(escape: "\\'"))
    }
  }
  return lines.joined(separator: "\n") + "\n"
}

extension Shell {
  /// The script that the shell reads. It is made from the tables of commands and options, so that it forgets none.
  var completion: String {
    switch self {
    case .bash: bashCompletion()
    case .zsh: zshCompletion()
    case .fish: fishCompletion()
    }
  }
}

extension Option {
  /// Every way to write its name.
  var spellings: [String] { ["--\(rawValue)"] + (letter.map { ["-\($0)"] } ?? []) }
}

extension String {
  /// The text as one word of a shell: between single quotes, `escape` before each of its own.
  func quoted(escape: String) -> String { "'" + replacing("'", with: escape) + "'" }
}
