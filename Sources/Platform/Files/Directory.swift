// An open directory: everything about a shared file happens relative to it, so that no step can be led elsewhere.

internal import CSystem
internal import Glibc

/// A path as its directory and the name in it.
struct FilePlace: Sendable, Hashable {
  let directory: String
  let name: String

  init(_ path: String) {
    if let slash = path.lastIndex(of: "/") {
      directory = slash == path.startIndex ? "/" : String(path[..<slash])
      name = String(path[path.index(after: slash)...])
    } else {
      directory = "."
      name = path
    }
  }
}

/// A directory that is open for as long as the value lives.
struct Directory: ~Copyable {
  let descriptor: Int32

  init(_ path: String) throws(SystemError) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError("open") }
  }

  deinit {
    close(descriptor)
  }

  /// What stands under a name, a symbolic link not followed; nil where nothing does.
  func identity(of name: String) throws(SystemError) -> FileIdentity? {
    var status = stat()
    if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileIdentity(status) }
    guard errno == ENOENT else { throw SystemError("fstatat") }
    return nil
  }

  /// The directory's own identity.
  func identity() throws(SystemError) -> FileIdentity {
    try FileIdentity.of(descriptor)
  }

  /// Removes the file under a name, if it is the one given.
  func remove(_ name: String, ifStill file: FileIdentity) throws(SystemError) {
    guard try identity(of: name)?.isSameFile(as: file) == true else { return }
    if unlinkat(descriptor, name, 0) != 0, errno != ENOENT { throw SystemError("unlinkat") }
  }

  /// Makes renames and new names last through a crash of the machine.
  func synchronize() throws(SystemError) {
    // Some file systems cannot do this for directories, and say so with EINVAL; they have nothing better.
    if fsync(descriptor) != 0, errno != EINVAL { throw SystemError("fsync") }
  }
}

extension FileIdentity {
  /// The identity of an open file.
  static func of(_ descriptor: Int32) throws(SystemError) -> FileIdentity {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemError("fstat") }
    return FileIdentity(status)
  }
}
