// Notifications that files may have changed, written in place or replaced: inotify on their directories, read by a
// Dispatch source. FileSetState tells if they did.

internal import CSystem
internal import Dispatch
internal import Glibc

/// Watches directories as long as the object lives.
/// `@unchecked Sendable`: the source is set in `init` and never changed after.
package final class DirectoryWatch: @unchecked Sendable {
  package enum Event: Sendable, Hashable {
    /// The file was written, replaced or removed, or its permissions changed.
    case changed
    /// The directory is gone; no more events follow.
    case lost
  }

  private let source: any DispatchSourceRead

  private static let changes =
    IN_CLOSE_WRITE | IN_MOVE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR

  /// Calls `handler` on a Dispatch queue, once for simultaneous changes of one file. Throws ENOTSUP if the file system
  /// does not report changes by other machines.
  package convenience init(
    path: String, handler: @escaping @Sendable (Event) -> Void
  ) throws(SystemError) {
    let place = FilePlace(path)
    let name = Array(place.name.utf8)
    try self.init([place.directory], Self.changes) { notices in
      for event in Set(notices.compactMap { $0.event(name: name) }) { handler(event) }
    }
  }

  /// Calls `handler` on a Dispatch queue after events in the directories on which the contents of these files depend.
  /// Make a new one after a change: links may lead elsewhere now. Throws ENOTSUP as above.
  package convenience init(
    paths: some Sequence<String>, handler: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    try self.init(Set(paths.flatMap(directoriesLeading)), Self.changes | IN_CREATE) { _ in handler() }
  }

  private init(
    _ directories: Set<String>, _ changes: Int32, handle: @escaping @Sendable ([Notice]) -> Void
  ) throws(SystemError) {
    let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0 else { throw SystemError("inotify_init1") }
    do throws(SystemError) {
      for directory in directories { try Self.watch(directory, UInt32(changes), descriptor) }
    } catch {
      close(descriptor)
      throw error
    }
    source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor, queue: DispatchQueue(label: "bearer-proxy.watch"))
    source.setEventHandler { handle(Notice.all(from: descriptor)) }
    source.setCancelHandler { close(descriptor) }
    source.activate()
  }

  deinit {
    source.cancel()
  }

  private static func watch(_ path: String, _ changes: UInt32, _ descriptor: Int32) throws(SystemError) {
    let directory = try Directory(path)
    guard csystem_is_remote(directory.descriptor) == 0 else { throw SystemError("inotify_add_watch", ENOTSUP) }
    // Through the descriptor, so that it is the directory that was examined.
    guard inotify_add_watch(descriptor, "/proc/self/fd/\(directory.descriptor)", changes) >= 0 else {
      throw SystemError("inotify_add_watch")
    }
  }
}

/// One event of the kernel (`struct inotify_event`).
private struct Notice {
  var mask: UInt32
  var name: [UInt8]

  /// The events that can be read now.
  static func all(from descriptor: Int32) -> [Notice] {
    var notices: [Notice] = []
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
        var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        while let notice = Notice(&rest) { notices.append(notice) }
      }
    }
    return notices
  }

  init?(_ bytes: inout UnsafeRawBufferPointer) {
    guard bytes.count >= 16 else { return nil }
    mask = bytes.load(fromByteOffset: 4, as: UInt32.self)
    let length = Int(bytes.load(fromByteOffset: 12, as: UInt32.self))
    name = Array(bytes[16..<min(16 + length, bytes.count)].prefix { $0 != 0 })
    bytes = UnsafeRawBufferPointer(rebasing: bytes[min(16 + length, bytes.count)...])
  }

  func event(name file: [UInt8]) -> DirectoryWatch.Event? {
    if mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT) != 0 { return .lost }
    return name == file || mask & UInt32(IN_Q_OVERFLOW) != 0 ? .changed : nil
  }
}

/// The state of some files at one moment.
package struct FileSetState: Sendable, Hashable {
  private var identities: [String: FileIdentity] = [:]

  /// Examines files. A file that does not exist or cannot be examined has no state, and gets one when it appears.
  package init(_ paths: some Sequence<String>) {
    for path in paths {
      var status = stat()
      if stat(path, &status) == 0 { identities[path] = FileIdentity(status) }
    }
  }
}

/// The digest of a file's contents; nil if it cannot be read, or is larger than 4 MiB.
package func contentDigest(of path: String) -> [UInt8]? {
  let contents: [UInt8]
  do throws(FileError) {
    contents = try ReadableFile.contents(of: path, limit: 4 << 20)
  } catch {
    return nil
  }
  do throws(CryptoError) {
    return try SHA256.digest(of: contents)
  } catch {
    return nil
  }
}

/// The directories in which a change can make `path` lead to another file: those of each symbolic link on the way, and
/// the file's. A ConfigMap's file is a link into `..data`, which is a link that Kubernetes replaces.
func directoriesLeading(to path: String) -> Set<String> {
  let steps = PathStep.all(to: path)
  return Set((steps.filter { $0.target != nil } + steps.suffix(1)).map { FilePlace($0.path).directory })
}
