// How a cache is divided where no single text holds it: which entries stand together, and which of them changed.

/// Where an entry stands.
package struct CachePlace: Sendable, Hashable {
  package let section: CacheSection
  /// Its key, as its writer made it.
  package let key: String

  /// A place.
  package init(_ section: CacheSection, _ key: String) {
    self.section = section
    self.key = key
  }
}

extension CacheDocument {
  /// Where every entry stands.
  package var places: [CachePlace] {
    CacheSection.allCases.flatMap { section in self[section].keys.map { CachePlace(section, $0) } }
  }

  package subscript(place: CachePlace) -> CacheEntry? {
    entry(place.section, place.key)
  }

  /// Puts an entry at a place, or with nil takes out what stands there.
  package mutating func replace(_ place: CachePlace, with entry: CacheEntry?) {
    if let entry { set(place.section, place.key, entry) } else { remove(place.section, place.key) }
  }

  /// Notes from now on where entries are put in or taken out.
  package mutating func noteChanges() {
    changed = []
  }

  /// The places noted, none of them twice, and an end to noting.
  package mutating func takeNotedChanges() -> Set<CachePlace> {
    defer { changed = nil }
    return changed ?? []
  }

  /// The name of the shard that an entry belongs to: one for each person and host, one for each application's own.
  package static func shard(of entry: CacheEntry) -> String {
    if let home = entry["home_account_id"], !home.isEmpty {
      return "account:\(entry["environment"]?.lowercased() ?? ""):\(home)"
    }
    return "application:\(entry["client_id"] ?? "")"
  }

  /// A cache of some of the entries; what is not an entry stays behind.
  package func extract(_ places: some Sequence<CachePlace>) -> CacheDocument {
    var part = CacheDocument()
    for place in places { if let entry = self[place] { part.set(place.section, place.key, entry) } }
    return part
  }
}
