// Owns reading a small file whole: the configuration itself, secrets, PEM files. It writes nothing and keeps nothing.

import Glibc

/// Why a file has no contents.
package enum FileReadError: Error, Equatable {
  /// The system's error number.
  case system(Int32)
  /// More bytes than allowed.
  case tooLarge(limit: Int)

  /// The reason in words, without the path.
  var reason: String {
    switch self {
    case .system(let number):
      var text = [CChar](repeating: 0, count: 256)
      // The XSI form fills the buffer; a number without words leaves "Unknown error N" there.
      _ = strerror_r(number, &text, text.count)
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    case .tooLarge(let limit):
      return "larger than \(limit / 1024) KiB"
    }
  }
}

/// How files are read: from disk, or in a test from a table.
package typealias ReadFile = (_ path: String, _ limit: Int) throws(FileReadError) -> [UInt8]

/// The bytes of a regular file, a pipe or a device, at most `limit` of them.
func fileContents(path: String, limit: Int) throws(FileReadError) -> [UInt8] {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw .system(errno) }
  defer { close(descriptor) }
  var contents: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 16384)
  while true {
    let count = read(descriptor, &chunk, chunk.count)
    if count == 0 { return contents }
    if count < 0 {
      if errno == EINTR { continue }
      throw .system(errno)
    }
    contents += chunk[..<count]
    if contents.count > limit { throw .tooLarge(limit: limit) }
  }
}
