// Reads a file that other programs write, and refuses one that must not be used. SharedFile+Replacing writes it,
// LockFile excludes others meanwhile.

internal import Bytes
internal import Glibc

/// A small file with secrets that several programs share. Every call blocks: use a FileQueue.
package struct SharedFile: Sendable, Hashable {
  /// The bytes, and the state of the file from which they were read.
  package struct Contents: Sendable {
    /// The file's state; nothing was written while the bytes were read.
    package var identity: FileIdentity
    package var bytes: [UInt8]
  }

  /// The largest file that is read, in bytes: a hundred thousand accounts.
  static let sizeLimit = 512 << 20

  package let path: String
  let place: FilePlace

  package init(path: String) {
    self.path = path
    place = FilePlace(path)
  }

  /// The state of the file, nil if there is none. Throws if it, or its directory, must not be used.
  package func identity() throws(FileError) -> FileIdentity? {
    let directory = try openDirectory()
    guard let identity = try mapping(FileError.system, directory.identity(of: place.name)) else { return nil }
    if let problem = try trustProblem(identity, in: directory) { throw .untrusted(problem) }
    return identity
  }

  /// Throws if another user's file has the name of one that is made to write this one, or one of `others` beside it:
  /// its path with these ends. In a directory that several users write to, any of them can put one there.
  package func checkNeighbours(_ ends: [String]) throws(FileError) {
    let directory = try openDirectory()
    for name in ends.map({ place.name + $0 }) + [temporaryName] {
      guard let found = try mapping(FileError.system, directory.identity(of: name)) else { continue }
      if try mapping(FileError.system, FileTrust.isObstructed(by: found, in: directory)) {
        throw .obstructed(name: name, owner: found.owner)
      }
    }
  }

  /// Reads the file whole; nil if there is none.
  package func read() throws(FileError) -> Contents? {
    let directory = try openDirectory()
    guard let file = try open(in: directory) else { return nil }
    let identity = file.identity
    if let problem = try trustProblem(identity, in: directory) { throw .untrusted(problem) }
    let bytes = try file.contents(limit: Self.sizeLimit)
    // Writing in place changes the time or the size; replacing leaves this file whole.
    let now = try mapping(FileError.system, FileIdentity.of(file.descriptor))
    guard now == identity, bytes.count == identity.size else { throw .changedWhileRead }
    return Contents(identity: identity, bytes: bytes)
  }

  private func open(in directory: borrowing Directory) throws(FileError) -> ReadableFile? {
    do throws(FileError) {
      return try ReadableFile(place.name, in: directory.descriptor, flags: O_NOFOLLOW)
    } catch .system(let error) where error.number == ENOENT {
      return nil
    } catch {
      throw error.ofSharedFile
    }
  }

  package func remove(ifStill file: FileIdentity) throws(FileError) {
    let directory = try openDirectory()
    try mapping(FileError.system, directory.remove(place.name, ifStill: file))
  }

  func openDirectory() throws(FileError) -> Directory {
    let directory = try Directory(of: place)
    let identity = try mapping(FileError.system, directory.identity())
    if let problem = FileTrust.problem(directory: identity.mode, owner: identity.owner, user: geteuid()) {
      throw .untrusted(problem)
    }
    return directory
  }

  func trustProblem(
    _ identity: FileIdentity, in directory: borrowing Directory
  ) throws(FileError) -> FileTrust? {
    let owner = try mapping(FileError.system, directory.identity()).owner
    return FileTrust.problem(file: identity.mode, owner: identity.owner, user: geteuid(), directoryOwner: owner)
  }
}

extension FileError {
  /// The same of a file that is not trusted unless it is regular.
  fileprivate var ofSharedFile: FileError {
    switch self {
    case .system(let error) where error.number == ELOOP: .untrusted(.symbolicLink)
    case .notRegular(.link): .untrusted(.symbolicLink)
    case .notRegular: .untrusted(.notRegular)
    default: self
    }
  }
}

extension Directory {
  /// Opens the directory of a shared file.
  fileprivate init(of place: FilePlace) throws(FileError) {
    do throws(SystemError) {
      try self.init(place.directory)
    } catch {
      throw error.number == ENOENT ? .noDirectory : .system(error)
    }
  }
}
