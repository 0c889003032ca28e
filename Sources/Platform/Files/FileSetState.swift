// Owns telling whether any of some files has changed, whatever links lead to them, and where to listen for that.

internal import Glibc

/// Some files at one moment.
public struct FileSetState: Sendable, Hashable {
  private var identities: [String: FileIdentity] = [:]

  /// Looks at files. One that is not there, or cannot be looked at, has no state, and gets another when it comes.
  public init(_ paths: some Sequence<String>) {
    for path in paths {
      var status = stat()
      if stat(path, &status) == 0 { identities[path] = FileIdentity(status) }
    }
  }
}

/// The digest of a file's contents; nil where it cannot be read, or is larger than 4 MiB.
public func contentDigest(of path: String) -> [UInt8]? {
  let contents: [UInt8]
  do throws(FileReadError) {
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

/// The directories in which a change can make `path` lead to another file: the one of each symbolic link on the way,
/// and the one the file is in. A ConfigMap's file is a link into `..data`, which is a link that Kubernetes replaces.
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
