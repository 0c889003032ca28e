package import Tokens

extension CacheStore {
  /// The document with a part, which is read first if it is not held; `isKnown` is false if that fails.
  package func snapshot(of interest: CacheInterest) async -> (document: CacheDocument, isKnown: Bool) {
    guard let backend, backend.lacks(interest) else { return (await snapshot(), true) }
    await look()
    let isKnown = !backend.lacks(interest)
    return (await snapshot(), isKnown)
  }

  /// Calls `take` with documents that together hold everything, until it returns false: with the one document if all is
  /// held, otherwise with parts of the place. See `CacheBackend.pages`.
  package func pages(
    at hosts: [String], _ take: (CacheDocument) async -> Bool
  ) async throws(CacheStoreError) {
    if isComplete { _ = await take(await snapshot()) } else { try await backend?.pages(at: hosts, take) }
  }

  /// True if `snapshot()` is all that the place has. Otherwise it is the part that was asked for.
  package var isComplete: Bool { backend?.isComplete ?? true }

  /// True if no other library reads the place.
  var isProxiesOwn: Bool { backend?.isProxiesOwn ?? false }
}
