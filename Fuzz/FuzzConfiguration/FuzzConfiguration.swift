// Feeds arbitrary texts to the reader of configuration files. What must hold: nothing traps, every mistake has a place
// in the file, the same text means the same twice, and no message is more than a line.

import Configuration
import HTTP
import Tokens

/// One input of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzConfiguration(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = Array(UnsafeBufferPointer(start: data, count: count))
  let lines = text.split(omittingEmptySubsequences: false) { $0 == 0x0A || $0 == 0x0D }.count
  let first = issues(text)
  precondition(first == issues(text), "a text means something else the second time")
  for issue in first {
    precondition(issue.place.file == "fuzz.yaml")
    // Unicode's line ends are YAML's too.
    precondition(issue.place.line >= 1 && issue.place.line <= lines + text.count / 2 + 1, "\(issue)")
    precondition(issue.place.column >= 1, "\(issue)")
    precondition(!issue.message.isEmpty && issue.message.utf8.count < 4096, "\(issue)")
    precondition(!issue.description.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }, "\(issue)")
  }
  return 0
}

private func issues(_ text: [UInt8]) -> [ConfigurationIssue] {
  do throws(ConfigurationError) {
    let settings = try Settings.decode(
      yaml: text, file: "fuzz.yaml", environment: ["NAME": "value"])
    precondition(!settings.listeners.isEmpty, "a configuration that listens nowhere")
    return []
  } catch {
    return error.issues
  }
}
