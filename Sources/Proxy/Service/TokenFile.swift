package import Bytes

/// A file in which programs find a route's token.
package struct TokenFile: Sendable, Hashable {
  /// Position of the route; also the index of its metrics.
  package let row: Int
  package let path: String
  /// The group that may read the file; nil: its owner alone may.
  package let group: UInt32?
  /// Seconds that the token in the file lives at least.
  package let leastLife: Int64

  package init(row: Int, path: String, group: UInt32? = nil, leastLife: Int64) {
    self.row = row
    self.path = path
    self.group = group
    self.leastLife = leastLife
  }
}

/// The next step for a token file.
enum TokenFileStep: Hashable {
  /// The held token is written.
  case write
  /// The file is as it must be until an instant; nil: until there is another token.
  case wait(until: UnixTime?)
  /// The held token lives too short: another one is requested.
  case renew
  /// The file is removed.
  case remove

  /// - Parameters:
  ///   - held: the expiry of the held token; nil if none is held.
  ///   - isWritten: true if the file has that token, or the last write of it failed.
  ///   - isThere: true if there is a file.
  ///   - hasAsked: true if another token was requested in place of the held one.
  init(
    held expiry: UnixTime?, leastLife: Int64, isWritten: Bool, isThere: Bool, hasAsked: Bool, now: UnixTime
  ) {
    guard let expiry else {
      self = isThere ? .remove : .wait(until: nil)
      return
    }
    if now + leastLife < expiry {
      self = isWritten ? .wait(until: expiry + -leastLife) : .write
    } else if !hasAsked {
      self = .renew
    } else {
      self = isThere ? .remove : .wait(until: nil)
    }
  }
}

/// A token file in `/status`.
package struct TokenFileStatus: Sendable, Hashable {
  package let path: String
  /// The expiry of the token in the file; nil if there is no file.
  package let expiresAt: UnixTime?
  /// The reason why it could not be written; nil if the last write succeeded.
  package let reason: String?
}
