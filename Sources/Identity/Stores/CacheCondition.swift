package import Bytes
internal import Platform
internal import Tokens

/// The state of the cache's file or server, for `/status`: what the store's events say. Any thread may ask.
package final class CacheCondition: Sendable {
  /// What kind of place it is.
  package enum Kind: String, Sendable, Hashable {
    /// This process.
    case memory
    /// A file.
    case file
    /// A Redis server.
    case redis
  }

  /// What `/status` says of it.
  package struct Report: Sendable, Hashable {
    /// What kind of place it is.
    package var kind: Kind
    /// The file or server; nil where tokens are kept in memory.
    package var path: String?
    /// What keeps the store from its place, in a sentence with the place; nil where nothing does.
    package var trouble: String?
    /// Since when.
    package var troubleSince: UnixTime?
    /// Changes that only this process knows.
    package var unwrittenChanges = 0

    /// A cache in order.
    package init(path: String?, kind: Kind? = nil) {
      self.path = path
      self.kind = kind ?? (path == nil ? .memory : .file)
    }
  }

  private let state: Locked<Report>
  private let now: @Sendable () -> UnixTime

  /// The condition of a cache before its first event.
  package init(path: String?, kind: Kind? = nil, now: @escaping @Sendable () -> UnixTime) {
    state = Locked(Report(path: path, kind: kind))
    self.now = now
  }

  /// The state now.
  package var report: Report { state.withLock { $0 } }

  package func take(_ event: CacheStoreEvent) {
    let now = now()
    state.withLock { report in
      switch event {
      case .read, .waited: break
      case .written, .recovered:
        report.trouble = nil
        report.troubleSince = nil
        report.unwrittenChanges = 0
      case .failed(let error, let kept, _):
        report.trouble = error.description(path: report.path ?? "")
        report.troubleSince = report.troubleSince ?? now
        report.unwrittenChanges = kept
      }
    }
  }
}
