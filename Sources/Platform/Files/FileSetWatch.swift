// Notifications that files may have changed: written in place, replaced, or behind a link that changed. FileSetState
// tells if they did.

internal import CSystem
internal import Dispatch
internal import Glibc

/// Watches the directories on which the contents of some paths depend.
/// `@unchecked Sendable`: the source is set in `init` and never changed after.
package final class FileSetWatch: @unchecked Sendable {
  private let source: any DispatchSourceRead

  /// Calls `handler` on a Dispatch queue after events in these files' directories, as long as the object lives. Make a
  /// new one after a change: links may lead elsewhere now. Throws ENOTSUP if a file system does not report changes by
  /// other machines.
  package init(paths: some Sequence<String>, handler: @escaping @Sendable () -> Void) throws(SystemError) {
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
  var directories: Set<String> = []
  var place = path.hasPrefix("/") ? "/" : "."
  var rest = path.split(separator: "/").map(String.init)
  var links = 0
  while !rest.isEmpty {
    let name = rest.removeFirst()
    let next = place == "/" ? "/" + name : place + "/" + name
    if let target = linkTarget(next), links < 40 {
      links += 1
      directories.insert(place)
      if target.hasPrefix("/") { place = "/" }
      rest = target.split(separator: "/").map(String.init) + rest
      continue
    }
    var status = stat()
    let isThere = lstat(next, &status) == 0
    if rest.isEmpty || !isThere {
      directories.insert(place)
      break
    }
    place = next
  }
  return directories
}

private func linkTarget(_ path: String) -> String? {
  withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
    let text = buffer.bindMemory(to: CChar.self)
    guard let start = text.baseAddress else { return nil }
    let count = readlink(path, start, text.count)
    return count < 0 ? nil : String(decoding: UnsafeRawBufferPointer(rebasing: buffer[..<count]), as: UTF8.self)
  }
}
