// Owns what a store tells its surroundings: facts about the file, never what is in it.

/// Something that happened between a store and its file.
public enum CacheStoreEvent: Sendable {
  /// Others had changed the file, and it was read.
  case read(duration: Duration)
  /// Changes were written, several together where they came together.
  case written(changes: Int, bytes: Int, duration: Duration)
  /// The file could not be read or written; `kept` changes wait in memory. Said once for each attempt, and `isNews` where the
  /// reason is not that of the attempt before.
  case failed(CacheStoreError, kept: Int, isNews: Bool)
  /// The file can be used again, and holds everything.
  case recovered
  /// A lock was waited for, until it was had or the time was over.
  case waited(CacheLock, Duration)
}

/// What processes that share a cache take turns at.
public enum CacheLock: String, Sendable, Hashable, CaseIterable {
  /// Writing the file.
  case file
  /// Asking a provider with one person's refresh tokens.
  case refresh
}
