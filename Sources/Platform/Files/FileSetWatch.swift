// Owns hearing that files may have changed, whether they are written in place, replaced, or a link on the way to them
// is. Whether they did is FileSetState's.

internal import CSystem
internal import Dispatch
internal import Glibc

/// Watches the directories that decide about some files.
///
/// `@unchecked Sendable`: the source is set up in `init` and never changed after.
public final class FileSetWatch: @unchecked Sendable {
  private let source: any DispatchSourceRead

  /// Calls `handler` on a Dispatch queue whenever something happened beside these files, as long as the object lives.
  /// Make a new one after a change: links may lead elsewhere now. Throws ENOTSUP where a file system does not tell what
  /// other machines do.
  public init(paths: some Sequence<String>, handler: @escaping @Sendable () -> Void) throws(SystemError) {
    let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0 else { throw SystemError("inotify_init1") }
    do throws(SystemError) {
      for path in paths {
        for directory in directoriesLeading(to: path) { try Self.watch(directory, descriptor) }
      }
    } catch {
      close(descriptor)
      throw error
    }
    source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor, queue: DispatchQueue(label: "bearer-proxy.configuration"))
    source.setEventHandler {
      withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
        while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
      }
      handler()
    }
    source.setCancelHandler { close(descriptor) }
    source.activate()
  }

  deinit {
    source.cancel()
  }

  private static func watch(_ path: String, _ descriptor: Int32) throws(SystemError) {
    let directory = try Directory(path)
    guard csystem_is_remote(directory.descriptor) == 0 else { throw SystemError("inotify_add_watch", ENOTSUP) }
    let mask = IN_CLOSE_WRITE | IN_MOVE | IN_CREATE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
    guard inotify_add_watch(descriptor, "/proc/self/fd/\(directory.descriptor)", UInt32(mask)) >= 0 else {
      throw SystemError("inotify_add_watch")
    }
  }
}
