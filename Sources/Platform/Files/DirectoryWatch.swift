// Notifications of changes to one file in a directory, written in place or replaced: inotify on the directory, read by
// a Dispatch source.

internal import CSystem
internal import Dispatch
internal import Glibc

/// Watches one name in one directory.
/// `@unchecked Sendable`: the source is set in `init` and never changed after.
package final class DirectoryWatch: @unchecked Sendable {
  package enum Event: Sendable, Hashable {
    /// The file was written, replaced or removed, or its permissions changed.
    case changed
    /// The directory is gone; no more events follow.
    case lost
  }

  private let source: any DispatchSourceRead

  /// Calls `handler` on a Dispatch queue, once for simultaneous changes, as long as the object lives. Throws ENOTSUP if
  /// the file system does not report changes by other machines.
  package init(path: String, handler: @escaping @Sendable (Event) -> Void) throws(SystemError) {
    let place = FilePlace(path)
    let directory = try Directory(place.directory)
    guard csystem_is_remote(directory.descriptor) == 0 else { throw SystemError("inotify_add_watch", ENOTSUP) }
    let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0 else { throw SystemError("inotify_init1") }
    let mask = IN_CLOSE_WRITE | IN_MOVE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
    // Through the descriptor, so that it is the directory that was examined.
    guard inotify_add_watch(descriptor, "/proc/self/fd/\(directory.descriptor)", UInt32(mask)) >= 0 else {
      let error = SystemError("inotify_add_watch")
      close(descriptor)
      throw error
    }
    let name = Array(place.name.utf8)
    source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor, queue: DispatchQueue(label: "bearer-proxy.watch"))
    source.setEventHandler {
      for event in Self.events(of: descriptor, name: name) { handler(event) }
    }
    source.setCancelHandler { close(descriptor) }
    source.activate()
  }

  deinit {
    source.cancel()
  }

  private static func events(of descriptor: Int32, name: [UInt8]) -> Set<Event> {
    var events: Set<Event> = []
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { return }
        var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        while let event = Notice(&rest) { events.formUnion(event.events(name: name)) }
      }
    }
    return events
  }
}

/// One event of the kernel (`struct inotify_event`).
private struct Notice {
  var mask: UInt32
  var name: [UInt8]

  init?(_ bytes: inout UnsafeRawBufferPointer) {
    guard bytes.count >= 16 else { return nil }
    mask = bytes.load(fromByteOffset: 4, as: UInt32.self)
    let length = Int(bytes.load(fromByteOffset: 12, as: UInt32.self))
    name = Array(bytes[16..<min(16 + length, bytes.count)].prefix { $0 != 0 })
    bytes = UnsafeRawBufferPointer(rebasing: bytes[min(16 + length, bytes.count)...])
  }

  func events(name file: [UInt8]) -> Set<DirectoryWatch.Event> {
    if mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT) != 0 { return [.lost] }
    return name == file || mask & UInt32(IN_Q_OVERFLOW) != 0 ? [.changed] : []
  }
}
