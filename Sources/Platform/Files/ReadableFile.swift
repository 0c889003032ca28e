// Every file is opened without waiting, and only if it is regular. A named pipe in place of a secret would block the
// process that opens it until another process writes.

package import Bytes
internal import Glibc

/// A kind of directory entry.
public enum FileKind: Sendable, Hashable {
  case regular, directory, pipe, socket, device, link

  init(mode: UInt32) {
    self =
      switch mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFIFO: .pipe
      case S_IFSOCK: .socket
      case S_IFLNK: .link
      default: .device
      }
  }

  package var words: String {
    switch self {
    case .regular: "a regular file"
    case .directory: "a directory"
    case .pipe: "a pipe"
    case .socket: "a socket"
    case .device: "a device"
    case .link: "a symbolic link"
    }
  }
}

/// An open file, for as long as the value lives. Opening never waits; reading a regular file waits for its disk only.
/// Never use it on a loop.
package struct ReadableFile: ~Copyable {
  let descriptor: Int32
  package let identity: FileIdentity

  /// Opens a path, links followed unless `flags` forbid it. `directory`: the descriptor of the directory that it is
  /// relative to. A pipe is refused unless `orPipe`.
  init(
    _ path: String, in directory: Int32 = AT_FDCWD, flags: Int32 = 0, orPipe: Bool = false
  ) throws(FileError) {
    let opened = openat(directory, path, flags | O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    // open(2) returns ENXIO for a socket.
    guard opened >= 0 else { throw errno == ENXIO ? .notRegular(.socket) : .system(SystemError("open")) }
    do throws(FileError) {
      identity = try Self.identity(of: opened, orPipe: orPipe)
      descriptor = opened
    } catch {
      close(opened)
      throw error
    }
  }

  private static func identity(of descriptor: Int32, orPipe: Bool) throws(FileError) -> FileIdentity {
    let identity = try mapping(FileError.system, FileIdentity.of(descriptor))
    let kind = FileKind(mode: identity.mode)
    guard kind == .regular || kind == .pipe && orPipe else { throw .notRegular(kind) }
    return identity
  }

  deinit {
    close(descriptor)
  }

  /// Lends a path that leads to this very file, even if another has its name by now: for libraries that open paths
  /// themselves.
  borrowing func withPath<Result>(_ body: (String) -> Result) -> Result { body("/proc/self/fd/\(descriptor)") }

  /// All contents; throws `tooLarge` above `limit` bytes. `patience` is for a pipe, whose writers may be slow.
  func contents(limit: Int, within patience: TimeSpan = .seconds(0)) throws(FileError) -> [UInt8] {
    guard identity.size <= limit else { throw .tooLarge(limit: limit) }
    let deadline = MonotonicTime.now + patience
    var failure: FileError?
    // In one piece, with one byte more than expected, to notice growth. A pipe has no size.
    var contents = [UInt8](unsafeUninitializedCapacity: identity.size + 1) { buffer, filled in
      failure = fill(buffer, &filled, until: deadline, patience)
    }
    if contents.count > identity.size {
      let rest = [UInt8](unsafeUninitializedCapacity: limit - identity.size) { buffer, filled in
        failure = failure ?? fill(buffer, &filled, until: deadline, patience)
      }
      contents += rest
    }
    if let failure { throw failure }
    if contents.count > limit { throw .tooLarge(limit: limit) }
    return contents
  }

  /// The time that the writer of a pipe has to open it. Then it is looked for, without taking a byte.
  private static let writerPatience = TimeSpan.seconds(2)

  /// Reads until the buffer is full, or to the end.
  private func fill(
    _ buffer: UnsafeMutableBufferPointer<UInt8>, _ filled: inout Int, until deadline: MonotonicTime,
    _ patience: TimeSpan
  ) -> FileError? {
    let isPipe = FileKind(mode: identity.mode) == .pipe
    var isWritten = !isPipe
    while filled < buffer.count {
      let isQuiet = isPipe && !waitForBytes(until: isWritten ? deadline : min(deadline, .now + Self.writerPatience))
      if isQuiet, isWritten { return .unfinished(patience) }
      let count = read(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
      if count == 0 { return isQuiet ? .unwritten : nil }
      // A quiet pipe that has not ended has a writer (pipe(7)).
      isWritten = true
      if count > 0 {
        filled += count
      } else if errno != EINTR, !(isPipe && errno == EAGAIN) {
        return .system(SystemError("read"))
      }
    }
    return nil
  }

  /// True if there are bytes or an end before the deadline.
  private func waitForBytes(until deadline: MonotonicTime) -> Bool {
    while true {
      let now = MonotonicTime.now
      guard now < deadline else { return false }
      var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&question, 1, Int32(clamping: (deadline - now).nanoseconds / 1_000_000 + 1)) > 0 { return true }
    }
  }

  /// The bytes of the file at a path, at most `limit`. Links are followed: a kubelet replaces their targets.
  /// - Parameter patience: a pipe is read if its writers finish within this time; nil: it is refused, because the file
  ///   is read again later, or the writer is not known.
  package static func contents(
    of path: String, limit: Int, orPipeWithin patience: TimeSpan? = nil
  ) throws(FileError) -> [UInt8] {
    try ReadableFile(path, orPipe: patience != nil).contents(limit: limit, within: patience ?? .zero)
  }

  /// Opens the file at a path for a library that reads it itself (`withPath`), with at most `limit` bytes.
  static func opened(_ path: String, limit: Int) throws(FileError) -> ReadableFile {
    let file = try ReadableFile(path)
    guard file.identity.size <= limit else { throw .tooLarge(limit: limit) }
    return file
  }
}
