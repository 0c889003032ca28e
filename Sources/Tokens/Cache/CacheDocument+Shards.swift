// Owns how a cache is divided where no single text holds it: which entries stand together, and which of them changed.

/// Where an entry stands.
public struct CachePlace: Sendable, Hashable {
  /// Its section.
  public let section: CacheSection
  /// Its key, as its writer made it.
  public let key: String

  /// A place.
  public init(_ section: CacheSection, _ key: String) {
    self.section = section
    self.key = key
  }
}

extension CacheDocument {
  /// Where every entry stands.
  public var places: [CachePlace] {
    CacheSection.allCases.flatMap { section in self[section].keys.map { CachePlace(section, $0) } }
  }

  /// The entry at a place.
  public subscript(place: CachePlace) -> CacheEntry? {
    entry(place.section, place.key)
  }

  /// Puts an entry at a place, or with nil takes out what stands there.
  public mutating func replace(_ place: CachePlace, with entry: CacheEntry?) {
    if let entry { set(place.section, place.key, entry) } else { remove(place.section, place.key) }
  }

  /// Notes from now on where entries are put in or taken out.
  public mutating func noteChanges() {
    changed = []
  }

  /// The places noted, none of them twice, and an end to noting.
  public mutating func takeNotedChanges() -> Set<CachePlace> {
    defer { changed = nil }
    return changed ?? []
  }

  /// The name of the shard that an entry belongs to: one for each person and host, one for each application's own.
  public static func shard(of entry: CacheEntry) -> String {
    if let home = entry["home_account_id"], !home.isEmpty {
      return "account:\(entry["environment"]?.lowercased() ?? ""):\(home)"
    }
    return "application:\(entry["client_id"] ?? "")"
  }

  /// A cache of some of the entries; what is not an entry stays behind.
  public func extract(_ places: some Sequence<CachePlace>) -> CacheDocument {
    var part = CacheDocument()
    for place in places { if let entry = self[place] { part.set(place.section, place.key, entry) } }
    return part
  }
}
