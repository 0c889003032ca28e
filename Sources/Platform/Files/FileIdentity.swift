// Owns what tells one state of a file from another without reading it. Whether a file may be trusted is FileTrust's.

internal import Glibc

/// A file at one moment: which one, and when it was written.
///
/// Times alone are not enough: a file renamed into place brings the time of its writing with it, which may be older.
public struct FileIdentity: Sendable, Hashable {
  var device: UInt64
  var inode: UInt64
  /// Bytes.
  public var size: Int
  /// When its contents were written, or are said to have been.
  public var modified: WallClock.Instant
  /// When it was last touched in any way, which nobody can set.
  var changed: WallClock.Instant
  var mode: UInt32
  var owner: UInt32
  var group: UInt32

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int(status.st_size)
    modified = WallClock.Instant(status.st_mtim)
    changed = WallClock.Instant(status.st_ctim)
    mode = status.st_mode
    owner = status.st_uid
    group = status.st_gid
  }

  /// Whether a later write must change the identity: the kernel's clock for files ticks every few milliseconds, and
  /// within one tick it need not.
  public func isSettled(at now: WallClock.Instant) -> Bool {
    let age = (now.seconds - changed.seconds) * 1_000_000_000 + Int64(now.nanoseconds) - Int64(changed.nanoseconds)
    return age > 50_000_000
  }

  func isSameFile(as other: FileIdentity) -> Bool {
    device == other.device && inode == other.inode
  }
}

extension WallClock.Instant {
  init(_ time: timespec) {
    self.init(seconds: Int64(time.tv_sec), nanoseconds: UInt32(time.tv_nsec))
  }
}
