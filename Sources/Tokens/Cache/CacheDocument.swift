// Owns the unified cache as one document: sections, entries, everything unknown. Reads and writes its text; files and locks
// are Identity's, what an operation does to it stands in the files named after the operation.

/// Why a text is not a cache. Nothing of it may be overwritten then.
public enum CacheDocumentError: Error, Sendable, Hashable {
  /// Not JSON, and where.
  case text(JSONTextError)
  /// JSON, but no object.
  case notAnObject
}

/// The cache that every MSAL reads and writes.
///
/// Entries are found by their members, not by their keys: libraries disagree about keys. What is not understood — members,
/// entries, sections — is written back as it was read.
public struct CacheDocument: Sendable {
  /// Whom credentials of an application belong to; the index that keeps lookups independent of the document's size.
  struct Owner: Hashable {
    var clientID: String
    var homeAccountID: String?
  }

  private var sections: [CacheSection: [String: CacheEntry]] = [:]
  private var owned: [CacheSection: [Owner: [String]]] = [:]
  /// The keys of the accounts that go by a name or a local id, in lower case.
  private var called: [String: [String]] = [:]
  /// Members of the document that are no known section, or a known one that is no object.
  private var foreignSections: [String: JSONValue] = [:]
  /// Entries that are no objects.
  private var foreignEntries: [CacheSection: [String: JSONValue]] = [:]

  /// An empty cache.
  public init() {}

  /// Reads a cache's text. No text at all is an empty cache.
  public init(text: [UInt8]) throws(CacheDocumentError) {
    if text.allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) { return }
    let isObject: Bool
    do throws(JSONTextError) {
      var reader = JSONReader(text)
      isObject = try reader.isAtObject()
      if isObject { try read(&reader) } else { _ = try reader.value() }
      try reader.finish()
    } catch {
      throw .text(error)
    }
    guard isObject else { throw .notAnObject }
  }

  private mutating func read(_ reader: inout JSONReader) throws(JSONTextError) {
    try reader.members { name, reader throws(JSONTextError) in
      guard let section = CacheSection(rawValue: name), try reader.isAtObject() else {
        foreignSections[name] = try reader.value()
        return
      }
      var entries = sections[section] ?? [:]
      try reader.members { key, reader throws(JSONTextError) in
        if try reader.isAtObject() {
          entries[key] = try CacheEntry(&reader)
          foreignEntries[section]?[key] = nil
        } else {
          entries[key] = nil
          foreignEntries[section, default: [:]][key] = try reader.value()
        }
      }
      foreignSections[name] = nil
      sections[section] = entries.isEmpty ? nil : entries
      index(section, entries)
    }
  }

  /// Indexes a section at once: one by one would cost as much as reading it.
  private mutating func index(_ section: CacheSection, _ entries: [String: CacheEntry]) {
    var owned: [Owner: [String]] = [:]
    owned.reserveCapacity(entries.count)
    if section == .account { called = [:] }
    for (key, entry) in entries {
      owned[Self.owner(entry), default: []].append(key)
      guard section == .account else { continue }
      for name in Self.names(entry) { called[name, default: []].append(key) }
    }
    self.owned[section] = owned
  }

  /// The cache's text, for every library to read: ASCII, indented, sections and entries in a stable order.
  public func text() -> [UInt8] {
    var writer = JSONWriter(.indentedASCII)
    writer.openObject()
    for section in CacheSection.allCases where foreignSections[section.rawValue] == nil {
      let entries = sections[section] ?? [:]
      let foreign = foreignEntries[section] ?? [:]
      guard sections[section] != nil || !foreign.isEmpty else { continue }
      writer.member(section.rawValue)
      writer.openObject()
      for key in (Array(entries.keys) + foreign.keys).sorted() {
        writer.member(key)
        if let entry = entries[key] {
          entry.write(to: &writer)
        } else if let value = foreign[key] {
          writer.append(value)
        }
      }
      writer.closeObject()
    }
    for (name, value) in foreignSections.sorted(by: { $0.key < $1.key }) {
      writer.member(name)
      writer.append(value)
    }
    writer.closeObject()
    return writer.bytes
  }

  /// The entries of a section, by key.
  public subscript(section: CacheSection) -> [String: CacheEntry] {
    sections[section] ?? [:]
  }

  /// The entry under a key.
  func entry(_ section: CacheSection, _ key: String) -> CacheEntry? {
    sections[section]?[key]
  }

  /// The keys of an owner's entries.
  func keys(_ section: CacheSection, clientID: String, homeAccountID: String?) -> [String] {
    owned[section]?[Owner(clientID: clientID, homeAccountID: homeAccountID)] ?? []
  }

  /// Everybody who has an account.
  var homeAccountIDs: [String] {
    (owned[.account] ?? [:]).keys.compactMap { $0.clientID.isEmpty ? $0.homeAccountID : nil }
  }

  /// Those of them whom a user name, a local id or a home id may mean.
  func homeAccountIDs(called name: String) -> Set<String> {
    var homes = Set((called[name.lowercased()] ?? []).compactMap { entry(.account, $0)?["home_account_id"] })
    if !keys(.account, clientID: "", homeAccountID: name).isEmpty { homes.insert(name) }
    return homes
  }

  /// Puts an entry under a key, instead of what stands there.
  mutating func set(_ section: CacheSection, _ key: String, _ entry: CacheEntry) {
    if let old = sections[section]?[key] { disown(section, key, old) }
    // A known section that was no object has nothing to lose once there is something to put into it.
    foreignSections[section.rawValue] = nil
    foreignEntries[section]?[key] = nil
    sections[section, default: [:]][key] = entry
    owned[section, default: [:]][Self.owner(entry), default: []].append(key)
    guard section == .account else { return }
    for name in Self.names(entry) { called[name, default: []].append(key) }
  }

  /// Takes an entry out.
  mutating func remove(_ section: CacheSection, _ key: String) {
    guard let old = sections[section]?.removeValue(forKey: key) else { return }
    disown(section, key, old)
  }

  private mutating func disown(_ section: CacheSection, _ key: String, _ entry: CacheEntry) {
    let owner = Self.owner(entry)
    owned[section]?[owner]?.removeAll { $0 == key }
    if owned[section]?[owner]?.isEmpty == true { owned[section]?[owner] = nil }
    guard section == .account else { return }
    for name in Self.names(entry) {
      called[name]?.removeAll { $0 == key }
      if called[name]?.isEmpty == true { called[name] = nil }
    }
  }

  private static func names(_ entry: CacheEntry) -> [String] {
    [entry["username"], entry["local_account_id"]].compactMap { $0 }.filter { !$0.isEmpty }.map { $0.lowercased() }
  }

  private static func owner(_ entry: CacheEntry) -> Owner {
    Owner(clientID: entry["client_id"] ?? "", homeAccountID: entry["home_account_id"].flatMap { $0.isEmpty ? nil : $0 })
  }
}
