// One entry of the unified cache: its members as they stand in the file, the secret apart from them. Which members mean
// what is the typed views' (`HeldAccessToken`, `HeldRefreshToken`, `CachedAccount`).

package import Bytes

/// An entry as some library wrote it. Unknown members stay in it.
///
/// As long as nothing changes it, an entry is a part of the text that it was read from, and is written back byte for
/// byte.
package struct CacheEntry: Sendable {
  private enum Form {
    case plain(PlainEntry)
    case made(secret: Secret?, members: [String: JSONValue])
  }

  private var form: Form

  /// An entry of these members.
  init(secret: Secret? = nil, members: [String: JSONValue]) {
    form = .made(secret: secret, members: members)
  }

  /// An entry that stands in a text.
  init(_ plain: PlainEntry) {
    form = .plain(plain)
  }

  /// Reads the object that is next.
  init(_ reader: inout JSONReader) throws(JSONTextError) {
    var members: [String: JSONValue] = [:]
    var secret: Secret?
    try reader.members { name, reader throws(JSONTextError) in
      let value = try reader.value()
      if name == CacheMember.secret.rawValue, let text = value.text {
        secret = Secret(text)
      } else {
        members[name] = value
      }
    }
    self.init(secret: secret, members: members)
  }

  /// The token; nil for accounts and applications.
  public internal(set) var secret: Secret? {
    get {
      switch form {
      case .plain(let entry): entry.secret
      case .made(let secret, _): secret
      }
    }
    set { form = .made(secret: newValue, members: members) }
  }

  /// Everything else.
  public internal(set) var members: [String: JSONValue] {
    get {
      switch form {
      case .plain(let entry): entry.members
      case .made(_, let members): members
      }
    }
    set { form = .made(secret: secret, members: newValue) }
  }

  /// A member that is a string; nil where it is absent, null or something else.
  package subscript(_ name: String) -> String? {
    switch form {
    case .plain(let entry): entry.string(name)
    case .made(_, let members): members[name]?.text
    }
  }

  /// The members that this library reads, found at once.
  var fields: CacheFields {
    switch form {
    case .plain(let entry): CacheFields(entry)
    case .made(_, let members): CacheFields(members)
    }
  }

  /// Whether the token is this one, without making one of what stands here.
  func holds(_ token: Secret) -> Bool {
    switch form {
    case .plain(let entry): entry.holds(token)
    case .made(let secret, _): secret == token
    }
  }

  /// Takes over the members of a newer entry and keeps what only this one has.
  mutating func merge(_ newer: CacheEntry) {
    form = .made(secret: newer.secret ?? secret, members: members.merging(newer.members) { _, new in new })
  }

  /// Appends the entry as an object.
  func write(to writer: inout JSONWriter) {
    switch form {
    case .plain(let entry): writer.append(verbatim: entry.text.copy(entry.range))
    case .made(let secret, let members): Self.write(secret, members, to: &writer)
    }
  }

  private static func write(_ secret: Secret?, _ members: [String: JSONValue], to writer: inout JSONWriter) {
    writer.openObject()
    var names = Array(members.keys)
    if secret != nil { names.append("secret") }
    for name in names.sorted() {
      writer.member(name)
      if name == "secret", let secret {
        writer.append(secret)
      } else if let value = members[name] {
        writer.append(value)
      }
    }
    writer.closeObject()
  }
}

extension CacheEntry: Equatable {
  /// Whether both have the same members, however they are spelled.
  package static func == (left: CacheEntry, right: CacheEntry) -> Bool {
    left.secret == right.secret && left.members == right.members
  }
}

extension CacheEntry: CustomStringConvertible {
  /// The names of the members, never their values.
  package var description: String { "CacheEntry(\(members.keys.sorted().joined(separator: ", ")))" }
}
