// `document FILE`, for those who change the program: config/schema.json, config/full.yaml or config/reference.md as the
// table of settings has it.

import Bytes
import Configuration
import Platform

/// Prints the present text of a file in config/.
struct DocumentCommand {
  let file: String

  func answer() throws(CommandError) -> CommandAnswer {
    let name = file.split(separator: "/").last.map(String.init) ?? file
    guard let document = ConfigurationDocument(rawValue: name) else {
      let names = ConfigurationDocument.allCases.map { "config/\($0.rawValue)" }
      throw .failed("document prints one of \(names.joined(separator: ", "))")
    }
    let present = try attempt(
      try ReadableFile.contents(of: file, limit: 1 << 20), otherwise: CommandError.unreadable(file))
    return CommandAnswer(text: document.text(present: String(decoding: present, as: UTF8.self)), status: .done)
  }
}
