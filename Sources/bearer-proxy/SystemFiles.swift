// Owns how settings reach the files of this machine: through the one opener, which waits for no pipe.

import Configuration
import Network

extension FileAccess {
  /// The files of this machine. A pipe may stand in the place of the configuration where `pipes` says so: `check -c <(…)`.
  static func system(pipes: PipeRule) -> FileAccess {
    FileAccess(
      readConfiguration: { path, limit throws(Configuration.FileReadError) in
        try contents(of: path, limit: limit, pipes: pipes)
      },
      read: { path, limit throws(Configuration.FileReadError) in
        try contents(of: path, limit: limit, pipes: .refused)
      }, findExposure: { FileExposure.mode(of: $0) })
  }

  private static func contents(
    of path: String, limit: Int, pipes: PipeRule
  ) throws(Configuration.FileReadError) -> [UInt8] {
    do throws(Network.FileReadError) {
      return try ReadableFile.contents(of: path, limit: limit, pipes: pipes)
    } catch {
      throw Configuration.FileReadError(error)
    }
  }
}

extension Configuration.FileReadError {
  fileprivate init(_ error: Network.FileReadError) {
    switch error {
    case .system(let error): self = .system(error.reason)
    case .notRegular(let kind): self = .notRegular(kind.words)
    case .tooLarge(let limit): self = .tooLarge(limit: limit)
    case .unfinished(let time): self = .unfinished(seconds: Int(time.nanoseconds / 1_000_000_000))
    }
  }
}

extension Settings {
  /// Reads and checks a configuration for a command that reads it once: it may come through a pipe.
  static func load(file: String, environment: [String: String]) throws(ConfigurationError) -> Settings {
    var read: Set<String> = []
    return try load(
      file: file, environment: environment, files: .system(pipes: .read(within: .seconds(30))), read: &read)
  }
}
