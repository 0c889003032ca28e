// Divides a cache into shards, for stores that do not keep it as one text, and records which entries changed.

/// The section and key of an entry.
package struct CachePlace: Sendable, Hashable {
  package let section: CacheSection
  /// Its key, as its writer made it.
  package let key: String

  package init(_ section: CacheSection, _ key: String) {
    self.section = section
    self.key = key
  }
}

extension CacheDocument {
  package var places: [CachePlace] {
    CacheSection.allCases.flatMap { section in self[section].keys.map { CachePlace(section, $0) } }
  }

  package subscript(place: CachePlace) -> CacheEntry? {
    entry(place.section, place.key)
  }

  /// Puts an entry at a place; nil removes the entry there.
  package mutating func replace(_ place: CachePlace, with entry: CacheEntry?) {
    if let entry { set(place.section, place.key, entry) } else { remove(place.section, place.key) }
  }

  /// Records from now on the places of added and removed entries.
  package mutating func noteChanges() {
    changed = []
  }

  /// The recorded places, none of them twice. Ends recording.
  package mutating func takeNotedChanges() -> Set<CachePlace> {
    defer { changed = nil }
    return changed ?? []
  }

  /// The name of an entry's shard: one for each person and host, one for each application's own tokens.
  package static func shard(of entry: CacheEntry) -> String {
    if let home = entry["home_account_id"], !home.isEmpty {
      return "account:\(entry["environment"]?.lowercased() ?? ""):\(home)"
    }
    return "application:\(entry["client_id"] ?? "")"
  }

  /// A cache of some of the entries; members that are no entries stay behind.
  package func extract(_ places: some Sequence<CachePlace>) -> CacheDocument {
    var part = CacheDocument()
    for place in places { if let entry = self[place] { part.set(place.section, place.key, entry) } }
    return part
  }
}
