import Bytes
public import HTTPClient
public import Platform
public import Tokens

/// A reason why a process cannot use the place of its cache. The document in memory is not affected.
public enum CacheStoreError: Error, Sendable, Hashable {
  /// The file is not a cache. It is neither overwritten nor deleted; an operator has to look at it.
  case damaged(CacheDocumentError)
  /// The file cannot be read with the keys. It is neither overwritten nor deleted.
  case sealed(CacheSealError)
  /// A program ended while it wrote the file. It is written again from memory.
  case abandoned
  /// The file, or its directory, must not be used, or cannot be.
  case file(FileError)
  /// Another writer did not release the lock in time.
  case locked(LockHolder?)
  /// The lock cannot be taken at all: a read-only file system, for example.
  case lock(SystemError)
  /// The Redis server cannot be used.
  case server(RedisFailure)
  /// Other processes changed the same entries again and again, faster than this one.
  case contended
}

extension CacheStoreError {
  /// Every value of `reason`.
  static let reasons = ["damaged", "system", "changing", "refused", "locked", "unreachable", "credentials"]

  /// The value of the metrics' label.
  package var reason: String {
    switch self {
    case .damaged, .abandoned, .sealed: "damaged"
    case .file(.system), .lock: "system"
    case .file(.changedWhileRead), .contended: "changing"
    case .file: "refused"
    case .locked: "locked"
    case .server(let failure): failure.reason
    }
  }

  /// True if an operator who knows of one need not be told of the other. A server that goes away fails in many ways.
  func isSimilar(to other: CacheStoreError) -> Bool {
    if case .server = self, case .server = other { return reason == other.reason }
    return self == other
  }

  /// A sentence about the file or server at `path`, with the line and column if there is one.
  package func description(path: String) -> String {
    switch self {
    case .damaged(.text(let error)): "\(path):\(error.line):\(error.column): \(error.problem.words)"
    case .damaged(.notAnObject): "\(path):1:1: not an object"
    case .sealed(let error): "\(path): \(error.words)"
    case .abandoned: "\(path): a program ended while it wrote the file; it is written again from memory"
    case .file(let error): "\(path): \(error.detail)"
    case .locked(let holder): "\(path).lockfile: \(FileError.held(holder))"
    case .lock(let error): "\(path).lockfile: \(error.description)"
    case .server(let failure): "\(path): \(failure.description)"
    case .contended: "\(path): other processes keep changing the same entries"
    }
  }
}

/// A reason why a Redis server cannot be used. Of the server's answer only the first word is kept: Redis quotes
/// commands.
public enum RedisFailure: Error, Sendable, Hashable {
  /// No connection.
  case unreachable(UpstreamError)
  /// The connection ended before the reply.
  case closed
  /// No answer within the time limit.
  case timedOut
  /// The answer is not Redis's protocol.
  case malformed
  /// User or password are wrong, or missing.
  case credentials(code: String)
  /// No sentinel knows a primary of this name.
  case noPrimary(name: String)
  /// A sentinel or a node names a place on another machine, and tokens would travel there in clear.
  case exposed(host: String)
  /// The application whose tokens open the server gets none.
  case token(application: String, AcquisitionError)
  /// The token names no object id.
  case nameless(application: String)
  /// The server refuses a command, with this word (`NOPERM`, `READONLY`, `LOADING`, `OOM`, …).
  case refused(command: String, code: String)
  /// The number at a key cannot be a version: another program wrote it.
  case notVersion(key: String)
  /// A shard is not a cache. It is neither overwritten nor deleted; an operator has to look at it.
  case damaged(shard: String, CacheDocumentError)
  /// A shard cannot be read with the keys. It is neither overwritten nor deleted.
  case sealed(shard: String, CacheSealError)
}

extension RedisFailure {
  /// The value of the metrics' label.
  fileprivate var reason: String {
    switch self {
    case .unreachable, .closed, .timedOut, .malformed, .noPrimary: "unreachable"
    case .credentials, .token, .nameless: "credentials"
    case .refused, .exposed: "refused"
    case .damaged, .sealed, .notVersion: "damaged"
    }
  }
}

extension RedisFailure: CustomStringConvertible {
  /// A sentence's end, after the server's name.
  public var description: String {
    switch self {
    case .unreachable(let error): error.reason
    case .closed: "the connection was closed"
    case .timedOut: "no answer within the time limit"
    case .malformed: "the answer is not Redis's protocol"
    case .credentials("NOAUTH"): "the server wants a password (NOAUTH)"
    case .credentials(let code): "user or password are wrong (\(code))"
    case .noPrimary(let name): "no sentinel knows a primary '\(name)'"
    case .exposed(let host): "tokens would travel in clear to '\(host)', which a sentinel or a node names"
    case .token(let name, let error): "application '\(name)' gets no token for the server: \(error.detail)"
    case .nameless(let name): "the token of application '\(name)' names no object id (oid)"
    case .refused(let command, "NOPERM"): "the user may not use \(command) on these keys (NOPERM)"
    case .refused(let command, let code): "the server refuses \(command) (\(code))"
    case .notVersion(let key): "the number at \(key) is no version of a token cache"
    case .damaged(let shard, _): "\(shard) is no token cache"
    case .sealed(let shard, let error): "\(shard): \(error.words)"
    }
  }
}

extension CacheSealError {
  /// The words after the name of the text.
  fileprivate var words: String {
    switch self {
    case .plain: "it was encrypted, and another program has written it in clear"
    case .keyless(let key): "it is encrypted with key \(key), and 'key_file' is not set"
    case .otherKey(let key): "it is encrypted with key \(key), which 'key_file' does not have"
    case .broken(let key): "it was changed, or moved from another place: key \(key) does not decrypt it"
    case .library(let error): "it cannot be encrypted or decrypted: \(error)"
    }
  }
}

extension JSONTextError.Problem {
  fileprivate var words: String {
    switch self {
    case .end: "the text ends too early"
    case .byte(let byte): "unexpected character 0x\(String(byte, radix: 16))"
    case .encoding: "a string that is not UTF-8"
    case .number: "a number beyond every range"
    case .depth: "values inside values without end"
    case .trailing: "text behind the document's end"
    case .repeated: "two members with one name"
    }
  }
}
