// Owns the making of a file that must not be there before, with its final mode from the first moment on.

import Glibc

/// Why a new file was not made.
struct NewFileError: Error, Equatable {
  let path: String
  /// The system's error number.
  let number: Int32

  /// The reason in words.
  var reason: String { String(cString: strerror(number)) }
}

/// Whether anything has this name, a link that leads nowhere included.
func exists(_ path: String) -> Bool {
  var status = stat()
  return lstat(path, &status) == 0
}

/// Makes a file of these bytes; one that is there stays as it is. What was written of a file that could not be finished is removed.
func writeNewFile(_ path: String, mode: mode_t, _ bytes: Span<UInt8>) throws(NewFileError) {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
  guard descriptor >= 0 else { throw NewFileError(path: path, number: errno) }
  var failure: Int32 = 0
  bytes.withUnsafeBytes { bytes in
    var rest = bytes[...]
    while !rest.isEmpty, failure == 0 {
      let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        failure = errno
      }
    }
  }
  if failure == 0, fsync(descriptor) != 0 { failure = errno }
  close(descriptor)
  guard failure == 0 else {
    unlink(path)
    throw NewFileError(path: path, number: failure)
  }
}
