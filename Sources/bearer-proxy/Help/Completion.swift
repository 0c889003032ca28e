// What shells offer at the cursor. Their scripts ask the program, by `complete`, and know no command or option.

import Configuration

/// A command line behind the program's name, up to the cursor.
struct CompletedLine {
  private let words: [String]
  /// The word at the cursor; it may be empty.
  private let last: String

  init(_ words: [String]) {
    // In bash, the '=' of --option=value is a word of its own.
    self.words = words.dropLast().filter { $0 != "=" }
    last = words.last.flatMap { $0 == "=" ? nil : $0 } ?? ""
  }

  /// A line for each word that is possible, with its explanation behind a tab; `:files` if it is a file.
  /// - Parameter names: finds the names in a configuration; without a file, in the usual one.
  func text(names: (NameList, _ file: String?) -> [String]) -> String {
    guard let (option, start) = valued else { return lines(possible) }
    if option == .config { return ":files\n" }
    let values = option.choices ?? option.names.map { names($0, configuration) } ?? []
    return lines(values.map { (start + $0, "") })
  }

  private func lines(_ candidates: [(word: String, text: String)]) -> String {
    candidates.filter { $0.word.hasPrefix(last) }.map { $0.text.isEmpty ? "\($0.word)\n" : "\($0.word)\t\($0.text)\n" }
      .joined()
  }

  /// Without a command word, the command is `run`.
  private var command: CommandName { words.first.flatMap(CommandName.init) ?? .run }

  private func option(_ spelling: String) -> Option? { command.options.first { $0.spellings.contains(spelling) } }

  /// The option whose value is at the cursor, and the part of the word before the value.
  private var valued: (Option, start: String)? {
    if last.hasPrefix("--"), let equals = last.firstIndex(of: "=") {
      return option(String(last[..<equals])).map { ($0, String(last[...equals])) }
    }
    let option = words.last.flatMap(option)
    return option.flatMap { $0.valueName == nil || $0.isValueOptional ? nil : ($0, "") }
  }

  private var possible: [(word: String, text: String)] {
    let commands = CommandName.allCases.map { (word: $0.rawValue, text: $0.summary) }
    if words == ["help"] { return commands }
    let operands = command.operand?.words.map { (word: $0, text: "") } ?? []
    let options = (command.options + [.help]).flatMap { option in
      option.spellings.map { (word: $0, text: option.sentence(in: command)) }
    }
    let first = [(word: "help", text: "Explain a command."), (word: "--version", text: CommandName.version.summary)]
    return (words.isEmpty ? commands + first : []) + operands + options
  }

  private var configuration: String? {
    for (index, word) in words.enumerated() {
      if word.hasPrefix("--config=") { return String(word.dropFirst(9)) }
      if Option.config.spellings.contains(word), index + 1 < words.count { return words[index + 1] }
    }
    return nil
  }
}

extension Shell {
  /// The script that the shell reads.
  var completion: String {
    switch self {
    case .bash:
      #"""
      # bash completion for bearer-proxy, made by 'bearer-proxy completion bash': for bash 4.4 and newer.
      _bearer_proxy() {
        mapfile -t COMPREPLY < <("${COMP_WORDS[0]/#\~/$HOME}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
        COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
        if [[ ${COMPREPLY[0]-} == :files ]]; then
          COMPREPLY=()
          compopt -o default
        fi
      }
      complete -F _bearer_proxy bearer-proxy

      """#
    case .zsh:
      // Also right after `source`.
      #"""
      #compdef bearer-proxy
      # zsh completion for bearer-proxy, made by 'bearer-proxy completion zsh': _bearer-proxy in a directory of fpath.
      _bearer-proxy() {
        local -a lines candidates
        lines=("${(@f)$(${(Q)words[1]} complete "${(@Q)words[2,CURRENT]}" 2> /dev/null)}")
        if [[ $lines[1] == :files ]]; then
          compset -P '*='
          _files
          return
        fi
        candidates=("${(@)${(@)lines//:/\\:}/$'\t'/:}")
        _describe -t words word candidates
      }
      if [[ $funcstack[1] == _bearer-proxy ]]; then
        _bearer-proxy "$@"
      else
        compdef _bearer-proxy bearer-proxy
      fi

      """#
    case .fish:
      #"""
      # fish completion for bearer-proxy, made by 'bearer-proxy completion fish'.
      function __bearer_proxy_complete
        set -l words (commandline -opc)
        set -l word (commandline -ct)
        set -l lines ($words[1] complete $words[2..] "$word" 2> /dev/null)
        if test "$lines[1]" = :files
          set -l option (string match -r -- '^--[a-z-]+=' "$word")
          string replace -r -- '^' "$option" (__fish_complete_path (string replace -r -- '^--[a-z-]+=' '' "$word"))
        else
          printf '%s\n' $lines
        end
      end
      complete -c bearer-proxy -f -a '(__bearer_proxy_complete)'

      """#
    }
  }
}

extension Option {
  /// Every way to write its name.
  var spellings: [String] { ["--\(rawValue)"] + (letter.map { ["-\($0)"] } ?? []) }
}
