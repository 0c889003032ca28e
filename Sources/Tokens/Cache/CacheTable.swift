import Bytes

/// A section's entries, by key and by owner.
struct CacheTable: Sendable {
  /// By key.
  private(set) var entries: [String: CacheEntry] = [:]
  /// Entries that are no objects.
  var foreign: [String: JSONValue] = [:]
  /// The keys of entries that may belong to an owner, and of accounts that may have a name or a local id.
  private var owned: [Fingerprint: [String]] = [:]
  private var called: [Fingerprint: [String]] = [:]

  var isEmpty: Bool { entries.isEmpty && foreign.isEmpty }

  /// Puts an entry under a key, replacing the old one.
  mutating func set(_ key: String, _ entry: CacheEntry, isAccount: Bool) {
    remove(key)
    foreign[key] = nil
    entries[key] = entry
    let fields = entry.fields
    owned[fields.owner, default: []].append(key)
    if isAccount { for name in fields.names { called[name, default: []].append(key) } }
  }

  /// Adds an entry that was just read, with the names found while reading.
  mutating func read(_ key: String, _ entry: PlainEntry, _ names: PlainEntry.Names, isAccount: Bool) {
    if entries.updateValue(CacheEntry(entry), forKey: key) != nil || !foreign.isEmpty {
      // A key that occurs twice.
      return set(key, CacheEntry(entry), isAccount: isAccount)
    }
    let bytes = entry.text.bytes
    let owner = Fingerprint(
      clientID: bytes.extracting(names.clientID ?? 0..<0), homeAccountID: bytes.extracting(names.homeAccountID ?? 0..<0)
    )
    owned[owner, default: []].append(key)
    guard isAccount else { return }
    for place in [names.username, names.localAccountID] {
      guard let place, !place.isEmpty else { continue }
      called[Fingerprint(name: bytes.extracting(place)), default: []].append(key)
    }
  }

  mutating func remove(_ key: String) {
    guard let entry = entries.removeValue(forKey: key) else { return }
    let fields = entry.fields
    Self.remove(key, from: &owned, at: fields.owner)
    if !called.isEmpty { for name in fields.names { Self.remove(key, from: &called, at: name) } }
  }

  /// The keys of an owner's entries.
  func keys(clientID: String, homeAccountID: String?) -> [String] {
    let owner = Fingerprint(clientID: clientID.utf8Span.span, homeAccountID: (homeAccountID ?? "").utf8Span.span)
    return (owned[owner] ?? []).filter { key in
      guard let fields = entries[key]?.fields else { return false }
      return fields.belongs(to: clientID, homeAccountID)
    }
  }

  /// The keys of accounts that may have a name or a local id.
  func keys(called name: String) -> [String] {
    called[Fingerprint(name: name.lowercased().utf8Span.span)] ?? []
  }

  mutating func reserve(_ count: Int) {
    entries.reserveCapacity(count)
    owned.reserveCapacity(count)
  }

  private static func remove(_ key: String, from index: inout [Fingerprint: [String]], at place: Fingerprint) {
    index[place]?.removeAll { $0 == key }
    if index[place]?.isEmpty == true { index[place] = nil }
  }
}

extension CacheFields {
  fileprivate var owner: Fingerprint {
    let (client, home) = (self[.clientID] ?? "", self[.homeAccountID] ?? "")
    return Fingerprint(clientID: client.utf8Span.span, homeAccountID: home.utf8Span.span)
  }

  fileprivate var names: [Fingerprint] {
    [self[.username], self[.localAccountID]].compactMap { $0 }.filter { !$0.isEmpty }
      .map { Fingerprint(name: $0.lowercased().utf8Span.span) }
  }

  /// An absent name and an empty one are the same.
  fileprivate func belongs(to clientID: String, _ homeAccountID: String?) -> Bool {
    func isSame(_ member: CacheMember, _ name: String) -> Bool {
      self.is(member, name) || (name.isEmpty && self[member] == nil)
    }
    return isSame(.clientID, clientID) && isSame(.homeAccountID, homeAccountID ?? "")
  }
}
