// No other user may be able to replace a program that runs with the proxy's rights.

internal import Glibc

/// The check of programs that a configuration names.
package enum ProgramTrust {
  /// The problem with the program at a path, in words that follow the path; nil if there is none. Links are followed.
  package static func problem(of path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return "cannot be run: \(SystemError("realpath").reason)" }
    defer { free(resolved) }
    let place = String(cString: resolved)
    var status = stat()
    guard stat(place, &status) == 0 else { return "cannot be run: \(SystemError("stat").reason)" }
    guard status.st_mode & S_IFMT == S_IFREG else { return "is not a regular file" }
    guard access(place, X_OK) == 0 else { return "cannot be run: \(SystemError("access").reason)" }
    guard status.st_uid == 0 || status.st_uid == geteuid() else {
      return "belongs to another user (uid \(status.st_uid)), who could replace it"
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      return "can be written by others (mode 0\(String(status.st_mode & 0o7777, radix: 8))); chmod go-w helps"
    }
    let slash = place.lastIndex(of: "/") ?? place.startIndex
    let directory = slash == place.startIndex ? "/" : String(place[..<slash])
    guard stat(directory, &status) == 0 else { return nil }
    return FileTrust.problem(directory: status.st_mode, owner: status.st_uid, user: geteuid())?.description
  }
}
