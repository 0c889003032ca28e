// Reads a file that other programs write, and refuses one that must not be used. SharedFile+Replacing writes it,
// LockFile excludes others meanwhile.

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
  package func identity() throws(SharedFileError) -> FileIdentity? {
    let directory = try openDirectory()
    guard let identity = try reached({ () throws(SystemError) in try directory.identity(of: place.name) }) else {
      return nil
    }
    if let problem = try trustProblem(identity, in: directory) { throw .untrusted(problem) }
    return identity
  }

  /// Throws if another user's file has the name of one that is made to write this one, or one of `others` beside it:
  /// its path with these ends. In a directory that several users write to, any of them can put one there.
  package func checkNeighbours(_ ends: [String]) throws(SharedFileError) {
    let directory = try openDirectory()
    for name in ends.map({ place.name + $0 }) + [temporaryName] {
      let found = try reached { () throws(SystemError) in try directory.identity(of: name) }
      let owner = try reached { () throws(SystemError) in try directory.identity().owner }
      if let found, !FileTrust.mayOwn(found.owner, user: geteuid(), directoryOwner: owner), found.owner != owner {
        throw .obstructed(name: name, owner: found.owner)
      }
    }
  }

  /// Reads the file whole; nil if there is none.
  package func read() throws(SharedFileError) -> Contents? {
    let directory = try openDirectory()
    guard let file = try open(in: directory) else { return nil }
    let identity = file.identity
    if let problem = try trustProblem(identity, in: directory) { throw .untrusted(problem) }
    let bytes: [UInt8]
    do throws(FileReadError) {
      bytes = try file.contents(limit: Self.sizeLimit)
    } catch {
      throw SharedFileError(error)
    }
    // Writing in place changes the time or the size; replacing leaves this file whole.
    let now = try reached { () throws(SystemError) in try FileIdentity.of(file.descriptor) }
    guard now == identity, bytes.count == identity.size else { throw .changedWhileRead }
    return Contents(identity: identity, bytes: bytes)
  }

  private func open(in directory: borrowing Directory) throws(SharedFileError) -> ReadableFile? {
    do throws(FileReadError) {
      return try ReadableFile(place.name, in: directory.descriptor, flags: O_NOFOLLOW)
    } catch .system(let error) where error.number == ENOENT {
      return nil
    } catch {
      throw SharedFileError(error)
    }
  }

  /// Removes the file if it is still the one given.
  package func remove(ifStill file: FileIdentity) throws(SharedFileError) {
    let directory = try openDirectory()
    try reached { () throws(SystemError) in try directory.remove(place.name, ifStill: file) }
  }

  func openDirectory() throws(SharedFileError) -> Directory {
    let directory = try Directory(of: place)
    let identity = try reached { () throws(SystemError) in try directory.identity() }
    if let problem = FileTrust.problem(directory: identity.mode, owner: identity.owner, user: geteuid()) {
      throw .untrusted(problem)
    }
    return directory
  }

  func trustProblem(
    _ identity: FileIdentity, in directory: borrowing Directory
  ) throws(SharedFileError) -> FileTrust? {
    let owner: UInt32
    do throws(SystemError) { owner = try directory.identity().owner } catch { throw .system(error) }
    return FileTrust.problem(file: identity.mode, owner: identity.owner, user: geteuid(), directoryOwner: owner)
  }

  private func reached<Value>(_ call: () throws(SystemError) -> Value) throws(SharedFileError) -> Value {
    do throws(SystemError) {
      return try call()
    } catch {
      throw .system(error)
    }
  }
}

extension SharedFileError {
  fileprivate init(_ error: FileReadError) {
    switch error {
    case .system(let error): self = error.number == ELOOP ? .untrusted(.symbolicLink) : .system(error)
    case .notRegular(.link): self = .untrusted(.symbolicLink)
    case .notRegular, .unwritten, .unfinished: self = .untrusted(.notRegular)
    case .tooLarge(let limit): self = .tooLarge(limit: limit)
    }
  }
}

extension Directory {
  /// Opens the directory of a shared file.
  fileprivate init(of place: FilePlace) throws(SharedFileError) {
    do throws(SystemError) {
      try self.init(place.directory)
    } catch {
      throw error.number == ENOENT ? .noDirectory : .system(error)
    }
  }
}

/// A reason why a shared file cannot be used now.
public enum SharedFileError: Error, Sendable, Hashable {
  /// It, or its directory, must not be trusted.
  case untrusted(FileTrust)
  /// Another user's file has the name of one that this process has to make beside it.
  case obstructed(name: String, owner: UInt32)
  /// Its directory does not exist.
  case noDirectory
  /// It has more bytes than any cache.
  case tooLarge(limit: Int)
  /// It was written while it was read; another attempt may see all of it.
  case changedWhileRead
  case system(SystemError)
}

extension SharedFileError: CustomStringConvertible {
  /// The reason, to follow the file's path.
  public var description: String {
    switch self {
    case .untrusted(let problem): problem.description
    case .obstructed(let name, let owner):
      "cannot be written, because \(name) beside it belongs to another user (uid \(owner)); remove that file, or take "
        + "a directory of your own"
    case .noDirectory: "its directory does not exist"
    case .tooLarge(let limit): "larger than \(limit >> 20) MiB"
    case .changedWhileRead: "is being written"
    case .system(let error): error.description
    }
  }
}
