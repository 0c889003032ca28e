// The atomic replacement of a shared file: a reader finds the old contents or the new, whole, even after a crash.

internal import Bytes
internal import CSystem
internal import Glibc

extension SharedFile {
  /// The new file's date is this far in the future. Readers compare it with their own clock at their last reading; one
  /// that reads during the renaming must not assume that it has the new contents.
  private static let lead = TimeSpan.milliseconds(200)

  /// Replaces the old file, which must be the one given, with these bytes. The new file keeps owner and mode. If there
  /// was none, it belongs to this process (made by root: to the directory's owner) with mode 0600. Call with the lock
  /// held: there is one temporary file for all.
  ///
  /// - Parameter group: a group that may read the file, too.
  /// - Returns: the new file's state.
  package func replace(
    with bytes: [UInt8], old: FileIdentity?, readableBy group: UInt32? = nil
  ) throws(FileError) -> FileIdentity {
    let directory = try openDirectory()
    return try mapping(FileError.system, replace(with: bytes, old: old, readableBy: group, in: directory))
  }

  // Hidden, next to the file, and always of the same name, so that killed processes leave at most one copy, until the
  // next write.
  var temporaryName: String { ".\(place.name).bearer-proxy" }

  private func replace(
    with bytes: [UInt8], old: FileIdentity?, readableBy group: UInt32?, in directory: borrowing Directory
  ) throws(SystemError) -> FileIdentity {
    if unlinkat(directory.descriptor, temporaryName, 0) != 0, errno != ENOENT { throw SystemError("unlinkat") }
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = openat(directory.descriptor, temporaryName, flags, 0o600)
    guard descriptor >= 0 else { throw SystemError("openat") }
    defer { close(descriptor) }
    let created = try FileIdentity.of(descriptor)
    do throws(SystemError) {
      try adopt(old, created, descriptor, in: directory)
      if let group {
        guard fchown(descriptor, .max, group) == 0 else { throw SystemError("fchown") }
        guard fchmod(descriptor, 0o640) == 0 else { throw SystemError("fchmod") }
      }
      if let (error, _) = bytes.withUnsafeBytes({ writeAll($0, to: descriptor) }) { throw error }
      guard fsync(descriptor) == 0 else { throw SystemError("fsync") }
      try date(descriptor)
      // Still ours: another writer whose lock was taken over may have begun to write here.
      guard try directory.identity(of: temporaryName)?.isSameFile(as: created) == true else {
        throw SystemError("renameat", ESTALE)
      }
      guard renameat(directory.descriptor, temporaryName, directory.descriptor, place.name) == 0 else {
        throw SystemError("renameat")
      }
    } catch {
      // If this fails too, the next write tries again.
      do throws(SystemError) { try directory.remove(temporaryName, ifStill: created) } catch {}
      throw error
    }
    // Again: readers must see the time of the renaming.
    try date(descriptor)
    try directory.synchronize()
    return try FileIdentity.of(descriptor)
  }

  private func adopt(
    _ old: FileIdentity?, _ new: FileIdentity, _ descriptor: Int32, in directory: borrowing Directory
  ) throws(SystemError) {
    let place = try directory.identity().ownership
    let ownership =
      if let old {
        FileOwnership.ofReplacement(old: old.ownership, directory: place, user: geteuid())
      } else {
        FileOwnership.ofNewFile(directory: place, user: geteuid())
      }
    if let ownership, ownership != new.ownership {
      guard fchown(descriptor, ownership.user, ownership.group) == 0 else { throw SystemError("fchown") }
    }
    guard let old else { return }
    guard fchmod(descriptor, old.mode & 0o777) == 0 else { throw SystemError("fchmod") }
  }

  private func date(_ descriptor: Int32) throws(SystemError) {
    let time = WallTime.now.advanced(by: Self.lead)
    guard csystem_set_modified(descriptor, time.seconds, time.nanoseconds) == 0 else { throw SystemError("futimens") }
  }
}
