// Owns a lock file that is ours, until it is released.

internal import Glibc

/// A lock file this process holds. Released with the last reference, if not before.
public final class HeldLockFile: Sendable {
  private let place: FilePlace
  private let descriptor: Locked<Int32?>

  init(_ place: FilePlace, _ descriptor: Int32) {
    self.place = place
    self.descriptor = Locked(descriptor)
  }

  deinit {
    release()
  }

  /// Removes the file, if it still is ours, and lets go of the kernel's lock. Blocks for a moment.
  public func release() {
    guard let descriptor = take() else { return }
    defer { close(descriptor) }
    // A file that cannot be removed any more stays; its process will be seen to be gone.
    do throws(SystemError) {
      let directory = try Directory(place.directory)
      try directory.remove(place.name, ifStill: .of(descriptor))
    } catch {}
  }

  /// Leaves the file, which somebody else has locked.
  func abandon() {
    if let descriptor = take() { close(descriptor) }
  }

  private func take() -> Int32? {
    descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
  }
}
