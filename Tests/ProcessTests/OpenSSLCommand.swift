// Runs the `openssl` command, the independent party of the signature and certificate tests, in a folder of its own.

import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A folder with files for one test, removed when the test is over.
struct OpenSSLCommand {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: directory.file(name)))
  }

  func read(_ name: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(filePath: directory.file(name)))) }

  /// Runs `openssl ARGUMENTS` in the folder; its exit status and everything it printed.
  func run(_ arguments: String) throws -> (status: Int32, output: String) {
    let pipe = try #require(popen("cd '\(directory.path)' && openssl \(arguments) 2>&1", "r"))
    var output: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = fread(&piece, 1, piece.count, pipe)
      if count == 0 { break }
      output += piece[..<count]
    }
    return (pclose(pipe) >> 8, String(decoding: output, as: UTF8.self))
  }
}
