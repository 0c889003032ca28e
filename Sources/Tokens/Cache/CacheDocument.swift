public import Bytes

/// A text that is no cache. It must not be overwritten.
public enum CacheDocumentError: Error, Sendable, Hashable {
  /// Not JSON, with the place of the mistake.
  case text(JSONTextError)
  /// JSON, but no object.
  case notAnObject
}

/// The cache that every MSAL reads and writes.
///
/// Entries are found by their members, not by their keys: libraries disagree about keys. Unknown members, entries and
/// sections are written back as they were read.
package struct CacheDocument: Sendable {
  private var tables: [CacheSection: CacheTable] = [:]
  /// Members of the document that are no known section, or a known one that is no object.
  private var foreignSections: [String: JSONValue] = [:]
  /// Bytes of the text it was read from: the size to expect of the next one.
  private var readCount = 0
  /// The places of entries that changed since recording began; nil if changes are not recorded.
  var changed: Set<CachePlace>?

  package init() {}

  /// Reads a cache's text; an empty one is an empty cache. All of it is checked now, and a mistake is reported with its
  /// place. Correct entries stay text until they are needed.
  package init(text: [UInt8]) throws(CacheDocumentError) {
    if text.allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) { return }
    let isObject: Bool
    do throws(JSONTextError) {
      readCount = text.count
      var reader = JSONReader(text)
      isObject = try reader.isAtObject()
      if isObject { try read(&reader, CacheText(text)) } else { _ = try reader.value() }
      try reader.finish()
    } catch {
      throw .text(error)
    }
    guard isObject else { throw .notAnObject }
  }

  private mutating func read(_ reader: inout JSONReader, _ text: CacheText) throws(JSONTextError) {
    try reader.members { name, reader throws(JSONTextError) in
      let section = CacheSection(rawValue: name)
      guard let section, try reader.isAtObject() else {
        foreignSections[name] = try reader.value()
        // Of two members with one name the last one counts.
        if let section { tables[section] = nil }
        return
      }
      foreignSections[name] = nil
      try tables[section, default: CacheTable()].read(&reader, text, isAccount: section == .account)
    }
  }

  /// The cache's text, sections and entries in a stable order. Unchanged entries are written as they were read.
  /// - Parameter layout: indented ASCII for every library to read.
  package func text(_ layout: JSONWriter.Layout = .indentedASCII) -> [UInt8] {
    var writer = JSONWriter(layout)
    writer.reserve(readCount + 65_536)
    writer.openObject()
    for section in CacheSection.allCases where foreignSections[section.rawValue] == nil {
      guard let table = tables[section], !table.isEmpty else { continue }
      writer.member(section.rawValue)
      table.write(to: &writer)
    }
    for (name, value) in foreignSections.sorted(by: { $0.key < $1.key }) {
      writer.member(name)
      writer.append(value)
    }
    writer.closeObject()
    return writer.bytes
  }

  /// True if it holds no entry.
  package var isEmpty: Bool { tables.values.allSatisfy(\.isEmpty) }

  /// The entries of a section, by key.
  package subscript(section: CacheSection) -> [String: CacheEntry] {
    tables[section]?.entries ?? [:]
  }

  func entry(_ section: CacheSection, _ key: String) -> CacheEntry? { tables[section]?.entries[key] }

  /// The keys of an owner's entries.
  func keys(_ section: CacheSection, clientID: String, homeAccountID: String?) -> [String] {
    tables[section]?.keys(clientID: clientID, homeAccountID: homeAccountID) ?? []
  }

  package var homeAccountIDs: Set<String> {
    Set(self[.account].values.compactMap { $0.fields[.homeAccountID] }.filter { !$0.isEmpty })
  }

  /// The accounts that a user name, a local id or a home id may mean.
  func homeAccountIDs(called name: String) -> Set<String> {
    guard let table = tables[.account] else { return [] }
    var homes = Set(table.keys(called: name).compactMap { table.entries[$0]?.fields[.homeAccountID] })
    if !table.keys(clientID: "", homeAccountID: name).isEmpty { homes.insert(name) }
    return homes
  }

  /// Puts an entry under a key, replacing the old one.
  mutating func set(_ section: CacheSection, _ key: String, _ entry: CacheEntry) {
    // A known section that was no object has nothing to lose once an entry is added.
    foreignSections[section.rawValue] = nil
    changed?.insert(CachePlace(section, key))
    tables[section, default: CacheTable()].set(key, entry, isAccount: section == .account)
  }

  mutating func remove(_ section: CacheSection, _ key: String) {
    changed?.insert(CachePlace(section, key))
    tables[section]?.remove(key)
  }
}
