internal import Glibc

/// One name on the way to a file: a directory, a link or the file.
struct PathStep: Sendable, Hashable {
  let path: String
  /// Its kind and its permission bits; 0 if nothing is there.
  let mode: UInt32
  let owner: UInt32
  let group: UInt32
  /// True if the file system is mounted read-only: no process that sees it so can write it, whatever its bits.
  var isReadOnly = false
  /// The target of a symbolic link; nil if it is none.
  var target: String?

  var isRegular: Bool { mode & S_IFMT == S_IFREG }
}

extension PathStep {
  private init(at path: String) {
    var status = stat()
    // Without an entry, all of it stays 0.
    lstat(path, &status)
    (mode, owner, group) = (status.st_mode, status.st_uid, status.st_gid)
    self.path = path
    target = mode & S_IFMT == S_IFLNK ? linkTarget(path) : nil
    // The file system of the link, not of what it leads to.
    isReadOnly = FileExposure.isReadOnly(target == nil ? path : FilePlace(path).directory)
  }

  /// Every name on the way to a path, the root first, links followed. If the way ends early, the last one is a name
  /// without an entry, or the link at which the kernel gives up, too (path_resolution(7)).
  static func all(to path: String) -> [PathStep] {
    var last = PathStep(at: "/")
    var steps = [last]
    var place = "/"
    var names = absolute(path).split(separator: "/").map(String.init)[...]
    while last.mode != 0, steps.count(where: { $0.target != nil }) <= 40, let name = names.popFirst() {
      if name == "." { continue }
      if name == ".." {
        place = FilePlace(place).directory
        continue
      }
      last = PathStep(at: place == "/" ? "/\(name)" : "\(place)/\(name)")
      steps.append(last)
      if let target = last.target {
        if target.hasPrefix("/") { place = "/" }
        names = (target.split(separator: "/").map(String.init) + names)[...]
      } else {
        place = last.path
      }
    }
    return steps
  }

  private static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let here = getcwd(nil, 0) else { return "/" + path }
    defer { free(here) }
    return String(cString: here) + "/" + path
  }
}

/// The target of a symbolic link; nil if the path is no link.
private func linkTarget(_ path: String) -> String? {
  withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
    let text = buffer.bindMemory(to: CChar.self)
    guard let start = text.baseAddress else { return nil }
    let count = readlink(path, start, text.count)
    return count < 0 ? nil : String(decoding: UnsafeRawBufferPointer(rebasing: buffer[..<count]), as: UTF8.self)
  }
}
