// Owns which directories a serving process may still write to, and what is said of its confinement.

import Configuration
import Network
import Telemetry

extension Settings {
  /// The directories in which `run` makes, replaces or removes files: the cache's, the access log's, and those of unix sockets.
  var writableDirectories: [String] {
    var files: [String] = []
    if let cache = cache.path { files.append(cache) }
    if log.access, let file = log.accessFile { files.append(file.value) }
    for address in listeners.map(\.address.value) + (admin.map { [$0.address.value] } ?? []) {
      if case .unix(let path) = address { files.append(path) }
    }
    return Set(files.map(directory)).sorted()
  }
}

/// The directory a file is in.
func directory(of file: String) -> String {
  file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
}

extension Machine.Confinement {
  /// Writes a record: an operator who reviews a deployment looks for it.
  func write(to log: Log) {
    switch self {
    case .full(let version): log.info("confined", ["landlock": .integer(version)])
    case .withoutLandlock: log.info("confined without Landlock, which this kernel does not offer")
    case .none(let error): log.warning("not confined", ["reason": .string(error.description)])
    }
  }
}
