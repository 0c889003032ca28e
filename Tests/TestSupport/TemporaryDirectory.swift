// A directory of one test, removed with everything in it.

import FoundationEssentials
import Glibc
import Platform

/// The directories that exist. Those that are left when all tests are over are removed then.
private enum Directories {
  static let existing = Locked<Set<String>>([])
  private static let removeAtExit: Void = {
    atexit { for path in Directories.existing.withLock({ $0 }) { Directories.remove(path) } }
  }()

  static func add(_ path: String) {
    _ = removeAtExit
    existing.withLock { _ = $0.insert(path) }
  }

  static func remove(_ path: String) {
    do {
      try FileManager.default.removeItem(atPath: path)
      existing.withLock { _ = $0.remove(path) }
    } catch {
      // Something still writes into it. It is removed at exit.
    }
  }
}

/// A new directory under the system's temporary directory; removed when the last reference goes.
package final class TemporaryDirectory: Sendable {
  /// Its absolute path, without a slash at the end.
  package let path: String

  /// Makes the directory, readable by all users (nginx drops its privileges when it has some).
  package init() throws {
    let path = FileManager.default.temporaryDirectory.path + "/bearer-proxy-test-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    self.path = path
    Directories.add(path)
  }

  deinit { Directories.remove(path) }

  /// The absolute path of `name` in here.
  package func file(_ name: String) -> String { path + "/" + name }

  /// Writes `text` into the file `name` and returns its absolute path. A new file has mode 0600, as one with a secret
  /// in it should.
  @discardableResult
  package func write(_ text: String, to name: String) throws -> String {
    try writeFile(file(name), text)
    return file(name)
  }

  /// Replaces the file `name` by another one of mode 0600 with this text: readers get either, never half of one.
  package func replace(_ name: String, with text: String) throws {
    try replaceFile(file(name), with: text)
  }

  /// The text of the file `name`; empty if there is none.
  package func read(_ name: String) -> String { textOfFile(file(name)) }
}

/// Writes a file, which has mode 0600 if it is new.
private func writeFile(_ path: String, _ text: String) throws {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { throw TestSupportError("cannot make \(path)") }
  close(descriptor)
  try Data(text.utf8).write(to: URL(filePath: path))
}

/// Replaces a file by another one of mode 0600 with this text: readers get either, never half of one.
func replaceFile(_ path: String, with text: String) throws {
  try writeFile(path + ".new", text)
  guard rename(path + ".new", path) == 0 else { throw TestSupportError("cannot replace \(path)") }
}

/// The text of the file at `path` with undecodable bytes replaced; empty if it cannot be read.
package func textOfFile(_ path: String) -> String {
  // Not FileManager's reading: that of swift-foundation loses a buffer at every empty file, which the address sanitizer
  // would report.
  guard let file = fopen(path, "re") else { return "" }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65536)
  while true {
    let count = fread(&chunk, 1, chunk.count, file)
    if count == 0 { return String(decoding: bytes, as: UTF8.self) }
    bytes += chunk[..<count]
  }
}
