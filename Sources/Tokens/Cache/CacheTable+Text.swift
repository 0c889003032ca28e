// Owns the text of one section: entries that are plain stay parts of it, all others are read and written member by
// member.

import Bytes

extension CacheTable {
  /// Reads the object that is next. A section that stands in the text twice is one.
  mutating func read(_ reader: inout JSONReader, _ text: CacheText, isAccount: Bool) throws(JSONTextError) {
    try reader.members { key, reader throws(JSONTextError) in
      var names = PlainEntry.Names()
      if try !reader.isAtObject() {
        remove(key)
        foreign[key] = try reader.value()
      } else if let entry = PlainEntry(text, from: reader.position, names: &names) {
        reader.skip(to: entry.range.upperBound)
        read(key, entry, names, isAccount: isAccount)
      } else {
        set(key, try CacheEntry(&reader), isAccount: isAccount)
      }
    }
  }

  /// Appends the section as an object, in the order of its keys.
  func write(to writer: inout JSONWriter) {
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
}
