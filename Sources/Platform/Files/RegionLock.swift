// Numbered locks inside one file: the kernel releases them with the descriptor, so a killed process leaves none behind.

package import Bytes
internal import CSystem
internal import Glibc

/// A file whose bytes are locks. It is never written and never removed.
package struct RegionLock: Sendable {
  private let place: FilePlace
  private let queue: FileQueue

  /// The locks in the file at a path, which is opened on `queue`.
  package init(path: String, queue: FileQueue) {
    place = FilePlace(path)
    self.queue = queue
  }

  /// Takes lock number `index`, with an attempt about every 25 ms; nil if it was held until the time was over.
  package func take(_ index: UInt64, within limit: TimeSpan) async throws(SystemError) -> HeldRegion? {
    let deadline = MonotonicTime.now + limit
    let region = try await queue.run { Result { () throws(SystemError) in try open() } }.get()
    // An offset has 63 bits.
    while csystem_try_lock_byte(region.descriptor, Int64(index >> 1)) != 0 {
      guard errno == EAGAIN || errno == EACCES else { throw SystemError("fcntl") }
      guard MonotonicTime.now < deadline else { return nil }
      do { try await Task.sleep(for: .milliseconds(Int.random(in: 15...35))) } catch { return nil }
    }
    return region
  }

  private func open() throws(SystemError) -> HeldRegion {
    let directory = try Directory(place.directory)
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    let descriptor = openat(directory.descriptor, place.name, flags, 0o600)
    guard descriptor >= 0 else { throw SystemError("openat") }
    let region = HeldRegion(descriptor)
    guard FileKind(mode: try FileIdentity.of(descriptor).mode) == .regular else { throw SystemError("openat", EINVAL) }
    try FileOwnership.hand(descriptor, over: directory)
    return region
  }
}

/// A lock that is held as long as the object lives.
package final class HeldRegion: Sendable {
  let descriptor: Int32

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }
}
