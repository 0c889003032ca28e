// `completion routes` and `completion applications`: the names that a configuration has, for the shells' scripts.

import Bytes
import Configuration
import Platform

/// Prints names, one on a line, also of a configuration with mistakes.
struct CompletionNames {
  let list: NameList
  let file: String

  func answer() throws(CommandError) -> CommandAnswer {
    do throws(FileError) {
      let bytes = try ReadableFile.contents(of: file, limit: 1 << 20)
      let names = list.names(yaml: bytes, file: file)
      return CommandAnswer(text: names.map { $0 + "\n" }.joined(), status: .done)
    } catch {
      throw .failed("cannot read \(file): \(error.description)")
    }
  }
}
