import Bytes

/// An entry that is unchanged since it was read: a plain object in the document's text (`PlainObject`).
struct PlainEntry: Sendable {
  let text: CacheText
  private let start: UInt32
  private let end: UInt32
  // The token's place: it is most of the entry, and need not be read again to find the members behind it.
  private let secretStart: UInt32
  private let secretEnd: UInt32

  /// The names that the index needs of an entry; places in the text.
  struct Names {
    var clientID: Range<Int>?
    var homeAccountID: Range<Int>?
    var username: Range<Int>?
    var localAccountID: Range<Int>?
  }

  /// Reads the object at `start`; nil if it is not plain. Of equal names the last one counts.
  @inline(__always)
  init?(_ text: CacheText, from start: Int, names: inout Names) {
    var found = Names()
    var secret: Range<Int>?
    let bytes = text.bytes
    let end = PlainObject.scan(bytes, from: start) { member in
      switch CacheMember(bytes, member.name) {
      case .secret: secret = member.value
      case .clientID: found.clientID = member.value
      case .homeAccountID: found.homeAccountID = member.value
      case .username: found.username = member.value
      case .localAccountID: found.localAccountID = member.value
      default: break
      }
    }
    guard let end else { return nil }
    names = found
    self.text = text
    self.start = UInt32(start)
    self.end = UInt32(end)
    secretStart = UInt32(secret?.lowerBound ?? 0)
    secretEnd = UInt32(secret?.upperBound ?? 0)
  }

  /// The object's place in the text.
  var range: Range<Int> { Int(start)..<Int(end) }

  /// The token's place in the text; nil if there is none. A string starts behind a quote, so 0 is no place of one.
  var secretRange: Range<Int>? { secretStart == 0 ? nil : Int(secretStart)..<Int(secretEnd) }

  var secret: Secret? {
    guard let range = secretRange else { return nil }
    return Secret(copying: text.bytes.extracting(range))
  }

  @inline(__always)
  func visit(_ visit: (Span<UInt8>, PlainObject.Member) -> Void) {
    let bytes = text.bytes
    let known = secretRange.map { PlainObject.Known(start: $0.lowerBound, end: $0.upperBound) } ?? .none
    _ = PlainObject.scan(bytes, from: Int(start), known: known) { visit(bytes, $0) }
  }

  /// Every member but the token.
  var members: [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    members.reserveCapacity(12)
    visit { bytes, member in
      let name = text.string(member.name)
      guard name != CacheMember.secret.text || member.value == nil else { return }
      members[name] = member.value.map { .string(text.string($0)) } ?? .null
    }
    return members
  }

  /// A member that is a string and not the token.
  func string(_ name: String) -> String? {
    guard name != CacheMember.secret.text else { return nil }
    var found: Range<Int>?
    visit { _, member in
      if member.name.count == name.utf8.count, text.string(member.name) == name { found = member.value }
    }
    return found.map { text.string($0) }
  }

  /// True if the token is this one, found in a time that depends on the number of bytes only.
  func holds(_ secret: Secret) -> Bool {
    guard let range = secretRange, range.count == secret.count else { return false }
    let (mine, theirs) = (text.bytes.extracting(range), secret.bytes)
    var difference: UInt8 = 0
    for index in mine.indices { difference |= mine[index] ^ theirs[index] }
    return difference == 0
  }
}
