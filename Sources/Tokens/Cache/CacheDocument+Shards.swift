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

/// A name by which shards of people are found.
package struct SearchName: Sendable, Hashable {
  package let text: String

  /// A user name or a local id.
  package static func called(_ name: String) -> SearchName { SearchName(text: "name " + name.lowercased()) }

  /// A person for whom an application has tokens.
  package static func user(of clientID: String) -> SearchName { SearchName(text: "application " + clientID) }
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
  package mutating func noteChanges() { changed = [] }

  /// The recorded places, none of them twice. Ends recording.
  package mutating func takeNotedChanges() -> Set<CachePlace> {
    defer { changed = nil }
    return changed ?? []
  }

  /// The name of an entry's shard: one for each person and host, one for each application's own tokens.
  package static func shard(of entry: CacheEntry) -> String {
    if let home = entry["home_account_id"], !home.isEmpty { return shard(of: home, at: entry["environment"] ?? "") }
    return shard(ofApplication: entry["client_id"] ?? "")
  }

  /// The name of a person's shard at a host.
  package static func shard(of home: String, at host: String) -> String { "account:\(host.lowercased()):\(home)" }

  /// The name of the shard of an application's own tokens.
  package static func shard(ofApplication clientID: String) -> String { "application:\(clientID)" }

  /// The names by which people are looked for: user names, local ids, and applications with tokens for them.
  package func names(of places: some Sequence<CachePlace>) -> Set<SearchName> {
    var names: Set<SearchName> = []
    for place in places {
      guard let entry = self[place], let home = entry["home_account_id"], !home.isEmpty else { continue }
      if place.section == .account {
        for name in [entry["username"], entry["local_account_id"]] {
          if let name, !name.isEmpty { names.insert(.called(name)) }
        }
      } else if let client = entry["client_id"] {
        names.insert(.user(of: client))
      }
    }
    return names
  }

  /// A cache of some of the entries; members that are no entries stay behind.
  package func extract(_ places: some Sequence<CachePlace>) -> CacheDocument {
    var part = CacheDocument()
    for place in places { if let entry = self[place] { part.set(place.section, place.key, entry) } }
    return part
  }
}
