// Owns the step from where the settings say tokens are kept to a store that keeps them there.

import Configuration
import Identity
import Network

/// Refuses a cache file that must not be used, where it is written in the configuration. It need not be there yet; its directory
/// must.
func checkCache(_ settings: CacheSettings) throws(ConfigurationError) {
  guard case .file(let path) = settings else { return }
  do throws(SharedFileError) {
    _ = try SharedFile(path: path.value).identity()
  } catch {
    throw ConfigurationError([path.issue("\(path.value) \(error.sentence)")])
  }
}

/// The store that the settings ask for; a file is read before this returns. `observe` hears of its troubles.
func openCache(
  _ settings: CacheSettings, observe: @escaping @Sendable (CacheStoreEvent) -> Void
) async -> any TokenCacheStore {
  switch settings {
  case .memory: MemoryCacheStore()
  case .file(let path): await FileCacheStore.open(path: path.value, observe: observe)
  }
}

extension CacheSettings {
  /// The cache's file; nil where there is none.
  var path: String? {
    if case .file(let path) = self { path.value } else { nil }
  }
}

extension SharedFileError {
  /// The reason as the end of a sentence that begins with the path.
  fileprivate var sentence: String {
    switch self {
    case .untrusted, .changedWhileRead: description
    case .noDirectory: "is in a directory that does not exist"
    case .tooLarge: "is \(description)"
    case .system: "cannot be used: \(description)"
    }
  }
}
