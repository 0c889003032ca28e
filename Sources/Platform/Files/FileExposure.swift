internal import CSystem
internal import Glibc

/// Files that every user can read.
package enum FileExposure {
  /// The mode of a file that every user can read, by its bits and those of every directory on its path. Nil if not
  /// every user can read it, if it does not exist, or if an orchestrator provides it for this process's container.
  package static func mode(of path: String) -> UInt32? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    var place = String(cString: resolved)
    guard let own = bits(of: place), own & S_IROTH != 0, !isProvided(place) else { return nil }
    while place != "/" {
      place = FilePlace(place).directory
      guard let directory = bits(of: place), directory & S_IXOTH != 0 else { return nil }
    }
    return own & 0o7777
  }

  private static func bits(of path: String) -> UInt32? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode : nil
  }

  /// True if a file is in memory, mounted read-only: a Kubernetes or Swarm secret, a systemd credential. Their modes
  /// are for the container, in which the file system is mounted.
  private static func isProvided(_ path: String) -> Bool {
    isProvided(type: csystem_file_system_type(path), isReadOnly: isReadOnly(path))
  }

  /// True if what is written to a directory stays on a medium; nil if that cannot be known.
  package static func isKept(in directory: String) -> Bool? {
    var status = stat()
    guard stat(directory, &status) == 0 else { return nil }
    let type = csystem_file_system_type(directory)
    return type == 0 ? nil : !isMemory(type: type)
  }

  private static func isMemory(type: UInt64) -> Bool {
    let (tmpfs, ramfs): (UInt64, UInt64) = (0x0102_1994, 0x8584_58F6)
    return [tmpfs, ramfs].contains(type)
  }

  /// - Parameter type: of the file system, from statfs(2).
  static func isProvided(type: UInt64, isReadOnly: Bool) -> Bool {
    isReadOnly && isMemory(type: type)
  }

  static func isReadOnly(_ path: String) -> Bool {
    var system = statvfs()
    return statvfs(path, &system) == 0 && system.f_flag & UInt(ST_RDONLY) != 0
  }
}
