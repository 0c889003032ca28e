import Bytes

/// The members of an entry that this library understands: found in one pass, a text only for each that is asked for.
struct CacheFields {
  private enum Source {
    case text(CacheText)
    case members([String: JSONValue])
  }

  private let source: Source
  /// Places of strings in the text, by member; 0 if there is none.
  private var places = InlineArray<23, (start: UInt32, end: UInt32)>(repeating: (0, 0))

  /// The members of an entry that is part of a text.
  init(_ entry: PlainEntry) {
    source = .text(entry.text)
    var places = places
    entry.visit { bytes, member in
      guard let known = CacheMember(bytes, member.name) else { return }
      places[known.rawValue] = member.value.map { (UInt32($0.lowerBound), UInt32($0.upperBound)) } ?? (0, 0)
    }
    self.places = places
  }

  /// The members of an entry in memory.
  init(_ members: [String: JSONValue]) { source = .members(members) }

  /// A member that is a string; nil if it is absent, null or something else.
  subscript(_ member: CacheMember) -> String? {
    switch source {
    case .text(let text): place(member).map { text.string($0) }
    case .members(let members): members[member.text]?.text
    }
  }

  /// A member that is a string, in lower case.
  func lowercased(_ member: CacheMember) -> String? {
    guard case .text(let text) = source else { return self[member]?.lowercased() }
    guard let place = place(member) else { return nil }
    let bytes = text.bytes.extracting(place)
    for index in bytes.indices where bytes[index] >= 0x41 && bytes[index] <= 0x5A {
      return text.string(place).lowercased()
    }
    return text.string(place)
  }

  /// A member that is an instant: decimal seconds as a string, or a number (others write both).
  func time(_ member: CacheMember) -> UnixTime? {
    switch source {
    case .members(let members): return members[member.text]?.seconds.map { UnixTime($0) }
    case .text(let text):
      guard let place = place(member) else { return nil }
      return Self.digits(text.bytes.extracting(place)).map { UnixTime($0) }
        ?? JSONValue.string(text.string(place)).seconds.map { UnixTime($0) }
    }
  }

  /// True if a member has a value: it is there, and neither null nor an empty string.
  func saysAnything(_ member: CacheMember) -> Bool {
    switch source {
    case .text: place(member).map { !$0.isEmpty } ?? false
    case .members(let members): members[member.text].map { $0 != .null && $0 != .string("") } ?? false
    }
  }

  /// True if a member is this string, or absent if the string is nil.
  func `is`(_ member: CacheMember, _ text: String?) -> Bool {
    guard case .text(let source) = source, let place = place(member), let text else { return self[member] == text }
    let (mine, theirs) = (source.bytes.extracting(place), text.utf8Span.span)
    guard mine.count == theirs.count else { return false }
    for index in mine.indices where mine[index] != theirs[index] { return false }
    return true
  }

  private func place(_ member: CacheMember) -> Range<Int>? {
    let (start, end) = places[member.rawValue]
    return start == 0 ? nil : Int(start)..<Int(end)
  }

  private static func digits(_ bytes: Span<UInt8>) -> Int64? {
    guard (1...15).contains(bytes.count) else { return nil }
    var value: Int64 = 0
    for index in bytes.indices {
      guard (0x30...0x39).contains(bytes[index]) else { return nil }
      value = value * 10 + Int64(bytes[index] - 0x30)
    }
    return value
  }
}
