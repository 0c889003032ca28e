// Reading a file that other programs write, and the refusal of one that must not be used. Writing it stands in
// SharedFile+Replacing, keeping others out meanwhile is LockFile's.

internal import Glibc

/// A small file with secrets that several programs share. Every call blocks: use a FileQueue.
package struct SharedFile: Sendable, Hashable {
  /// What was read, and of which state of the file.
  package struct Contents: Sendable {
    /// The file's state; nothing was written while the bytes were read.
    package var identity: FileIdentity
    /// All bytes.
    package var bytes: [UInt8]
  }

  /// Bytes of the largest file that is read: a hundred thousand accounts.
  static let sizeLimit = 512 << 20

  /// The path as given.
  package let path: String
  let place: FilePlace

  /// The file at a path.
  package init(path: String) {
    self.path = path
    place = FilePlace(path)
  }

  /// The state of the file, nil where there is none. Throws where it, or its directory, must not be used.
  package func identity() throws(SharedFileError) -> FileIdentity? {
    let directory = try openDirectory()
    guard let identity = try reached({ () throws(SystemError) in try directory.identity(of: place.name) }) else {
      return nil
    }
    if let problem = try trustProblem(identity, in: directory) { throw .untrusted(problem) }
    return identity
  }

  /// Throws where another user's file has the name of one that has to be made to write this one, or one of `others`
  /// beside it: its path with these ends. In a directory that several users write to, anyone can lay one there.
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

  /// Reads the file whole; nil where there is none.
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
    // Who writes in place shows in the time or the size; who replaced the file left this one whole.
    let now = try reached { () throws(SystemError) in try FileIdentity.of(file.descriptor) }
    guard now == identity, bytes.count == identity.size else { throw .changedWhileRead }
    return Contents(identity: identity, bytes: bytes)
  }

  /// nil where there is none.
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
  /// Why the file was not read, in the words for files with secrets.
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
  /// The directory a shared file belongs into.
  fileprivate init(of place: FilePlace) throws(SharedFileError) {
    do throws(SystemError) {
      try self.init(place.directory)
    } catch {
      throw error.number == ENOENT ? .noDirectory : .system(error)
    }
  }
}

/// Why a file that several programs share cannot be used now.
public enum SharedFileError: Error, Sendable, Hashable {
  /// It, or its directory, must not be trusted.
  case untrusted(FileTrust)
  /// Another user's file stands where this process has to make one beside it.
  case obstructed(name: String, owner: UInt32)
  /// The directory it belongs into is not there.
  case noDirectory
  /// More bytes than any cache has.
  case tooLarge(limit: Int)
  /// It was written while it was read; another try may see all of it.
  case changedWhileRead
  /// The system refused.
  case system(SystemError)
}

extension SharedFileError: CustomStringConvertible {
  /// The reason, to be read behind the file's path.
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
