// Owns one entry of the unified cache: its members as they stand in the file, the secret apart from them. Which members mean
// what is the typed views' (`HeldAccessToken`, `HeldRefreshToken`, `CachedAccount`).

/// An entry as some library wrote it. Members that nobody here knows stay in it.
public struct CacheEntry: Sendable, Equatable {
  /// The token; nil for accounts and applications.
  public internal(set) var secret: Secret?
  /// Everything else.
  public internal(set) var members: [String: JSONValue]

  /// An entry of these members.
  init(secret: Secret? = nil, members: [String: JSONValue]) {
    self.secret = secret
    self.members = members
  }

  /// Reads the object that is next.
  init(_ reader: inout JSONReader) throws(JSONTextError) {
    var members: [String: JSONValue] = [:]
    members.reserveCapacity(12)
    var secret: Secret?
    try reader.members { name, reader throws(JSONTextError) in
      let value = try reader.value()
      if name == "secret", let text = value.text {
        secret = Secret(text)
      } else {
        members[name] = value
      }
    }
    self.init(secret: secret, members: members)
  }

  /// A member that is a string; nil where it is absent, null or something else.
  public subscript(_ name: String) -> String? {
    members[name]?.text
  }

  /// A member that is an instant: decimal seconds as a string, or a number (others write both).
  func time(_ name: String) -> UnixTime? {
    members[name]?.seconds.map { UnixTime($0) }
  }

  /// Takes over the members of a newer entry and keeps what only this one has.
  mutating func merge(_ newer: CacheEntry) {
    secret = newer.secret ?? secret
    members.merge(newer.members) { _, new in new }
  }

  /// Appends the entry as an object.
  func write(to writer: inout JSONWriter) {
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

extension CacheEntry: CustomStringConvertible {
  /// The names of the members, never their values.
  public var description: String { "CacheEntry(\(members.keys.sorted().joined(separator: ", ")))" }
}
