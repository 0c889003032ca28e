// Owns why a cache's file or server could not be read or written, in words an operator can act on.

public import Network
public import Tokens

/// What stands between a process and its cache. The document in memory is not affected.
public enum CacheStoreError: Error, Sendable, Hashable {
  /// The file is there and is no cache. It is neither overwritten nor deleted; somebody has to look at it.
  case damaged(CacheDocumentError)
  /// The file, or the directory it is in, is one that must not be used, or cannot be.
  case file(SharedFileError)
  /// Another writer did not let go of the lock in time.
  case locked(LockHolder?)
  /// The lock cannot be taken at all: a read-only file system, say.
  case lock(SystemError)
  /// The cache is on a Redis server, which cannot be used.
  case server(RedisFailure)
}

extension CacheStoreError {
  /// Every word of `reason`.
  static let reasons = ["damaged", "system", "changing", "refused", "locked", "unreachable", "credentials"]

  /// A word for metrics.
  public var reason: String {
    switch self {
    case .damaged: "damaged"
    case .file(.system), .lock: "system"
    case .file(.changedWhileRead): "changing"
    case .file: "refused"
    case .locked: "locked"
    case .server(let failure): failure.reason
    }
  }

  /// A sentence about the file or server at `path`, with the place in it where there is one.
  public func description(path: String) -> String {
    switch self {
    case .damaged(.text(let error)): "\(path):\(error.line):\(error.column): \(error.problem.words)"
    case .damaged(.notAnObject): "\(path):1:1: not an object"
    case .file(let error): "\(path): \(error.description)"
    case .locked(let holder?): "\(path).lockfile: held by process \(holder.process) (\(holder.name))"
    case .locked(nil): "\(path).lockfile: held by another process"
    case .lock(let error): "\(path).lockfile: \(error.description)"
    case .server(let failure): "\(path): \(failure.description)"
    }
  }
}

extension JSONTextError.Problem {
  fileprivate var words: String {
    switch self {
    case .end: "the text ends too early"
    case .byte(let byte): "0x\(String(byte, radix: 16)) cannot stand here"
    case .encoding: "a string that is not UTF-8"
    case .number: "a number beyond every range"
    case .depth: "values inside values without end"
    case .trailing: "text behind the document's end"
    }
  }
}
