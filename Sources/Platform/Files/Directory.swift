// An open directory. All operations on a shared file are relative to it, so that no step can be led elsewhere.

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

/// An open directory, closed at the end of the value.
struct Directory: ~Copyable {
  let descriptor: Int32

  init(_ path: String) throws(SystemError) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError("open") }
  }

  deinit {
    close(descriptor)
  }

  /// The identity of the file of a name, without following a symbolic link; nil if there is none.
  func identity(of name: String) throws(SystemError) -> FileIdentity? {
    var status = stat()
    if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileIdentity(status) }
    guard errno == ENOENT else { throw SystemError("fstatat") }
    return nil
  }

  func identity() throws(SystemError) -> FileIdentity {
    try FileIdentity.of(descriptor)
  }

  /// Removes the file of a name, if it is the one given.
  func remove(_ name: String, ifStill file: FileIdentity) throws(SystemError) {
    guard try identity(of: name)?.isSameFile(as: file) == true else { return }
    if unlinkat(descriptor, name, 0) != 0, errno != ENOENT { throw SystemError("unlinkat") }
  }

  /// Makes renames and new names survive a crash of the machine.
  func synchronize() throws(SystemError) {
    // Some file systems cannot do this for directories and return EINVAL; they have nothing better.
    if fsync(descriptor) != 0, errno != EINVAL { throw SystemError("fsync") }
  }
}

extension FileIdentity {
  static func of(_ descriptor: Int32) throws(SystemError) -> FileIdentity {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemError("fstat") }
    return FileIdentity(status)
  }
}

/// The directory of files that live as long as a process.
package enum RuntimeDirectory {
  /// The directories in which this program's processes make such files, in order of preference: systemd's
  /// `RUNTIME_DIRECTORY` (systemd.exec(5)), one in `XDG_RUNTIME_DIR` (XDG Base Directory Specification), and the one in
  /// /run of services and root.
  package static func all(environment: [String: String]) -> [String] {
    let service = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first.map(String.init)
    let user = environment["XDG_RUNTIME_DIR"].map { $0 + "/bearer-proxy" }
    return [service, user, "/run/bearer-proxy"].compactMap { $0?.hasPrefix("/") == true ? $0 : nil }
  }

  /// The first of them that exists or can be made, mode 0700; nil if there is none.
  package static func make(environment: [String: String]) -> String? {
    all(environment: environment).first { mkdir($0, 0o700) == 0 || (errno == EEXIST && access($0, W_OK) == 0) }
  }

  /// A file's absolute path. Links of its directory are resolved; the file itself may be one that is replaced.
  package static func absolutePath(of file: String) -> String? {
    let place = FilePlace(file)
    guard let resolved = realpath(place.directory, nil) else { return nil }
    defer { free(resolved) }
    let directory = String(cString: resolved)
    return directory == "/" ? "/\(place.name)" : "\(directory)/\(place.name)"
  }
}
