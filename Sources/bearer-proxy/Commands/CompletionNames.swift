// `completion routes` and `completion applications`: the names that a configuration has, for the shells' scripts.

import Bytes
import Configuration
import Platform

/// Prints names, one on a line, also of a configuration with mistakes.
struct CompletionNames {
  let list: NameList
  let file: String

  func answer() throws(CommandError) -> CommandAnswer {
    let bytes = try attempt(
      try ReadableFile.contents(of: file, limit: 1 << 20), otherwise: CommandError.unreadable(file))
    return CommandAnswer(text: list.names(yaml: bytes, file: file).map { $0 + "\n" }.joined(), status: .done)
  }
}
