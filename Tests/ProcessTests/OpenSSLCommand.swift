// Runs the `openssl` command, the independent party of the signature and certificate tests, in a folder of its own.

import FoundationEssentials
import Glibc
import Testing

/// A folder with files for one test, removed when the test is over.
final class OpenSSLCommand {
  let folder: String

  init() throws {
    var template = Array("\(FileManager.default.temporaryDirectory.path)/bearer-proxy-crypto-XXXXXX".utf8CString)
    let made = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
    }
    folder = try #require(made)
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: folder)
    } catch {
      Issue.record("left behind: \(folder)")
    }
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
  }

  func read(_ name: String) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
  }

  /// Runs `openssl ARGUMENTS` in the folder; its exit status and everything it printed.
  func run(_ arguments: String) throws -> (status: Int32, output: String) {
    let pipe = try #require(popen("cd '\(folder)' && openssl \(arguments) 2>&1", "r"))
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
