// Owns the shells whose completion there is, and the choice among the scripts.

/// A shell that completes command lines.
enum Shell: String, CaseIterable {
  case bash
  case zsh
  case fish

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
