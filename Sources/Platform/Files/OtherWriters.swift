// Users who can change the file at a path, besides root and this process's user: a rule over lstat(2) of every name on
// the way. The cache, which the proxy writes itself, has a rule of its own: `FileTrust`.

internal import Glibc

/// Another user who can change a file, or put another one in its place.
package struct OtherWriters: Sendable, Hashable {
  enum Writer: Sendable, Hashable {
    case everybody(mode: UInt32)
    case group(UInt32, mode: UInt32)
    /// The owner, if it is another user.
    case user(UInt32)
  }

  let writer: Writer
  /// The directory on the way that they can write; nil: the file itself.
  let directory: String?

  package var areEverybody: Bool { if case .everybody = writer { true } else { false } }

  /// Users and groups that may change everything.
  fileprivate struct Trusted {
    /// Root, the process's user, and the owner of the root directory: root by another number in a user namespace.
    let owners: Set<UInt32>
    let user: UInt32
    let group: UInt32

    /// True if a group has no member but an owner: a user's own group has the user's number, or is the process's.
    func isAlone(_ group: UInt32, _ owner: UInt32) -> Bool {
      group == 0 || group == owner || (group == self.group && owner == user)
    }
  }

  /// The writers of the last of `steps` besides a process of `user` and `group`; every user before others. A directory
  /// that others cannot enter is a wall: only its group reaches what is below, or no user.
  static func find(_ steps: [PathStep], user: UInt32, group: UInt32) -> OtherWriters? {
    let trusted = Trusted(owners: Set([0, user] + steps.prefix(1).map(\.owner)), user: user, group: group)
    var found: [OtherWriters] = []
    /// The groups that pass every wall so far; nil: there is no wall.
    var gate: UInt32?
    var isClosed = false
    var isLent = false
    for step in steps {
      let isDirectory = step.mode & S_IFMT == S_IFDIR
      // Entries of a sticky directory are their owners', links too.
      var writer =
        isLent && !step.isReadOnly && !trusted.owners.contains(step.owner) ? .user(step.owner) : step.writer(trusted)
      if case .everybody(let mode)? = writer, let gate { writer = .group(gate, mode: mode) }
      if case .group? = writer, isClosed { writer = nil }
      if let writer { found.append(OtherWriters(writer: writer, directory: isDirectory ? step.path : nil)) }
      if isDirectory, step.mode & S_IXOTH == 0 {
        gate = gate ?? step.group
        isClosed = isClosed || step.mode & S_IXGRP == 0 || trusted.isAlone(step.group, step.owner)
      }
      isLent = isDirectory && step.mode & S_ISVTX != 0
    }
    return found.first(where: \.areEverybody) ?? found.last
  }

  /// The writers of the file that `path` leads to; nil also if there is none.
  package static func find(_ path: String) -> OtherWriters? {
    let steps = PathStep.all(to: path)
    return steps.last?.isRegular == true ? find(steps, user: geteuid(), group: getegid()) : nil
  }

  /// The problem with a program that a configuration names, which runs with the proxy's rights; nil if there is none.
  /// Words that follow the path.
  package static func problem(ofProgram path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return "cannot be run: \(SystemError("stat").reason)" }
    guard status.st_mode & S_IFMT == S_IFREG else { return "is not a regular file" }
    guard access(path, X_OK) == 0 else { return "cannot be run: \(SystemError("access").reason)" }
    return find(path)?.description
  }
}

extension PathStep {
  /// The writer of this one, besides those that are `trusted`.
  fileprivate func writer(_ trusted: OtherWriters.Trusted) -> OtherWriters.Writer? {
    if isReadOnly { return nil }
    let kind = mode & S_IFMT
    // A link has no bits; its directory decides who may replace it.
    if kind == S_IFLNK { return nil }
    // In a sticky directory only owners replace files.
    let bits = kind == S_IFDIR && mode & S_ISVTX != 0 ? 0 : mode
    if bits & S_IWOTH != 0 { return .everybody(mode: mode & 0o7777) }
    if !trusted.owners.contains(owner) { return .user(owner) }
    return bits & S_IWGRP != 0 && !trusted.isAlone(group, owner) ? .group(group, mode: mode & 0o7777) : nil
  }
}

extension OtherWriters: CustomStringConvertible {
  /// The writers and the repair, to follow the file's path.
  package var description: String {
    let start = directory.map { "is below \($0), which " } ?? ""
    let object = directory.map { " on \($0)" } ?? ""
    return switch writer {
    case .everybody(let mode):
      "\(start)can be written by every user of this machine (mode 0\(String(mode, radix: 8))); "
        + "chmod \(directory == nil ? "o-w" : "o-w or +t")\(object) helps"
    case .group(let group, let mode):
      "\(start)can be written by group \(group) (mode 0\(String(mode, radix: 8))); "
        + "chmod g-w\(object) helps"
    case .user(let user):
      "\(start)belongs to another user (uid \(user)), who can change it; give it to root or to the proxy's user, or "
        + "run as that user"
    }
  }
}
