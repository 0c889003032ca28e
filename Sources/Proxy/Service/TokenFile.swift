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

enum TokenFileContents: Hashable {
  case none
  case held
  /// Another token, which may stay until an instant; nil: no longer.
  case other(until: UnixTime?)
}

/// The next step for a token file.
enum TokenFileStep: Hashable {
  case write
  /// The file is as it must be until an instant; nil: until there is another token.
  case wait(until: UnixTime?)
  /// The held token lives too short: another one is requested.
  case renew
  case remove

  /// - Parameters:
  ///   - held: the expiry of the held token; nil if none is held.
  ///   - retryAt: the end of the pause after a failed write; nil if there is none.
  ///   - hasAsked: true if another token was requested in place of the held one.
  init(
    held expiry: UnixTime?, contents: TokenFileContents, leastLife: Int64, retryAt: UnixTime?, hasAsked: Bool,
    now: UnixTime
  ) {
    let end = expiry.map { $0 + -leastLife }
    guard let end, now < end else {
      self =
        if end != nil, !hasAsked { .renew } else if contents == .none { .wait(until: nil) } else { .remove }
      return
    }
    switch contents {
    case .held: self = .wait(until: end)
    case _ where retryAt.map { $0 <= now } ?? true: self = .write
    // The token of before serves the readers until its own end.
    case .other(let until?) where now < until: self = .wait(until: retryAt.map { min($0, until) })
    case .other: self = .remove
    case .none: self = .wait(until: retryAt)
    }
  }
}

package struct TokenFileStatus: Sendable, Hashable {
  package let path: String
  /// The expiry of the token in the file; nil if there is no file.
  package let expiresAt: UnixTime?
  /// The reason why it could not be written; nil if the last write succeeded.
  package let reason: String?
}
