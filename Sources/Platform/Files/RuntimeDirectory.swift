internal import Glibc

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
