// Owns reading a file that other programs write, and the refusal of one that must not be used. Writing it stands in
// SharedFile+Replacing, keeping others out meanwhile is LockFile's.

internal import Glibc

/// A small file with secrets that several programs share. Every call blocks: use a FileQueue.
public struct SharedFile: Sendable, Hashable {
  /// What was read, and of which state of the file.
  public struct Contents: Sendable {
    /// The file's state; nothing was written while the bytes were read.
    public var identity: FileIdentity
    /// All bytes.
    public var bytes: [UInt8]
  }

  /// Bytes of the largest file that is read: a hundred thousand accounts.
  static let sizeLimit = 512 << 20

  /// The path as given.
  public let path: String
  let place: FilePlace

  /// The file at a path.
  public init(path: String) {
    self.path = path
    place = FilePlace(path)
  }

  /// The state of the file, nil where there is none. Throws where it, or its directory, must not be used.
  public func identity() throws(SharedFileError) -> FileIdentity? {
    let directory = try openDirectory()
    guard let identity = try reached({ () throws(SystemError) in try directory.identity(of: place.name) }) else {
      return nil
    }
    if let problem = trustProblem(identity) { throw .untrusted(problem) }
    return identity
  }

  /// Reads the file whole; nil where there is none.
  public func read() throws(SharedFileError) -> Contents? {
    let directory = try openDirectory()
    // Not waiting for the other end of a pipe that somebody put there.
    let descriptor = openat(directory.descriptor, place.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 {
      switch errno {
      case ENOENT: return nil
      case ELOOP: throw .untrusted(.symbolicLink)
      default: throw .system(SystemError("openat"))
      }
    }
    defer { close(descriptor) }
    let identity = try identity(descriptor)
    if let problem = trustProblem(identity) { throw .untrusted(problem) }
    guard identity.size <= Self.sizeLimit else { throw .tooLarge(limit: Self.sizeLimit) }
    let bytes = try bytes(descriptor, expecting: identity.size)
    // Who writes in place shows in the time or the size; who replaced the file left this one whole.
    guard try self.identity(descriptor) == identity, bytes.count == identity.size else { throw .changedWhileRead }
    return Contents(identity: identity, bytes: bytes)
  }

  func openDirectory() throws(SharedFileError) -> Directory {
    let directory = try Directory(of: place)
    let mode = try reached { () throws(SystemError) in try directory.identity().mode }
    if let problem = FileTrust.problem(directory: mode) { throw .untrusted(problem) }
    return directory
  }

  func trustProblem(_ identity: FileIdentity) -> FileTrust? {
    FileTrust.problem(file: identity.mode, owner: identity.owner, user: geteuid())
  }

  private func identity(_ descriptor: Int32) throws(SharedFileError) -> FileIdentity {
    try reached { () throws(SystemError) in try FileIdentity.of(descriptor) }
  }

  private func reached<Value>(_ call: () throws(SystemError) -> Value) throws(SharedFileError) -> Value {
    do throws(SystemError) {
      return try call()
    } catch {
      throw .system(error)
    }
  }

  private func bytes(_ descriptor: Int32, expecting size: Int) throws(SharedFileError) -> [UInt8] {
    var failure: SystemError?
    // One byte more than expected, so that growth is seen.
    let bytes = [UInt8](unsafeUninitializedCapacity: size + 1) { buffer, filled in
      while filled < buffer.count {
        let count = Glibc.read(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
        if count > 0 {
          filled += count
        } else if count == 0 {
          return
        } else if errno != EINTR {
          failure = SystemError("read")
          return
        }
      }
    }
    if let failure { throw .system(failure) }
    return bytes
  }
}

extension Directory {
  /// The directory a shared file belongs into.
  fileprivate init(of place: FilePlace) throws(SharedFileError) {
    do throws(SystemError) {
      try self.init(place.directory)
    } catch {
      throw error.number == ENOENT ? .noDirectory : .system(error)
    }
  }
}
