import Bytes

/// The bytes that unchanged entries are part of. They are in no description, and are wiped at the end.
@safe
final class CacheText: Sendable, CustomStringConvertible, CustomReflectable {
  // Written in deinit only, when no other reference is left.
  private nonisolated(unsafe) var storage: [UInt8]

  /// Takes over a text. If its giver keeps it too, that copy is not wiped.
  init(_ bytes: [UInt8]) { unsafe storage = bytes }

  deinit {
    unsafe Self.wipe(&storage)
  }

  // As in `Secret`: an optimiser that sees the memory being freed next may not look into this function.
  @_optimize(none) @inline(never)
  private static func wipe(_ bytes: inout [UInt8]) { zero(&bytes) }

  @inline(never)
  private static func zero(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBufferPointer { bytes in unsafe bytes.update(repeating: 0) }
  }

  var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(storage.span, borrowing: self) }
  }

  /// A part of the text as an array; not wiped.
  func copy(_ range: Range<Int>) -> ArraySlice<UInt8> { unsafe storage[range] }

  /// A part of the text that is known to be ASCII.
  func string(_ range: Range<Int>) -> String {
    // The bytes were found to be ASCII when the entry was read.
    String(copying: unsafe UTF8Span(unchecked: bytes.extracting(range), isKnownASCII: true))
  }

  var description: String { "[secret]" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension CacheTable {
  /// Reads the next object. A section that occurs twice is one.
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
