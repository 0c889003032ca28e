// Owns the few lines that commands say to whoever started them. A running proxy's records go another way.

import Glibc

/// Writes text to standard output.
func say(_ text: String) {
  write(text, to: STDOUT_FILENO)
}

/// Writes text to standard error.
func complain(_ text: String) {
  write(text, to: STDERR_FILENO)
}

/// Writes everything, or as much as there is a reader for.
private func write(_ text: String, to descriptor: Int32) {
  var bytes = Array(text.utf8)[...]
  while !bytes.isEmpty {
    let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if count > 0 {
      bytes = bytes.dropFirst(count)
    } else if errno != EINTR {
      return
    }
  }
}
