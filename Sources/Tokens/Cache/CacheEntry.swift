package import Bytes

/// An entry as some library wrote it, with unknown members. An unchanged one is part of the text that was read, and is
/// written back byte for byte.
package struct CacheEntry: Sendable {
  private enum Form {
    case plain(PlainEntry)
    case made(secret: Secret?, members: [String: JSONValue])
  }

  private var form: Form

  init(secret: Secret? = nil, members: [String: JSONValue]) {
    form = .made(secret: secret, members: members)
  }

  /// An entry that is part of a text.
  init(_ plain: PlainEntry) { form = .plain(plain) }

  /// Reads the next object.
  init(_ reader: inout JSONReader) throws(JSONTextError) {
    var members: [String: JSONValue] = [:]
    var secret: Secret?
    try reader.members { name, reader throws(JSONTextError) in
      let value = try reader.value()
      if name == CacheMember.secret.text, let text = value.text {
        secret = Secret(text)
      } else {
        members[name] = value
      }
    }
    self.init(secret: secret, members: members)
  }

  /// The token; nil for accounts and applications.
  package internal(set) var secret: Secret? {
    get {
      switch form {
      case .plain(let entry): entry.secret
      case .made(let secret, _): secret
      }
    }
    set { form = .made(secret: newValue, members: members) }
  }

  /// All other members.
  package internal(set) var members: [String: JSONValue] {
    get {
      switch form {
      case .plain(let entry): entry.members
      case .made(_, let members): members
      }
    }
    set { form = .made(secret: secret, members: newValue) }
  }

  /// A member that is a string; nil if it is absent, null or something else.
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

  /// The instant of its last change, as far as it says so.
  package var time: UnixTime {
    let fields = fields
    return fields.time(.modifiedAt) ?? fields.time(.cachedAt) ?? UnixTime(0)
  }

  /// True if its last change is within these seconds.
  func isDated(_ seconds: Range<Int64>) -> Bool { !seconds.isEmpty && seconds.contains(time.seconds) }

  /// True if the token is this one, without copying the entry's token.
  func holds(_ token: Secret) -> Bool {
    switch form {
    case .plain(let entry): entry.holds(token)
    case .made(let secret, _): secret == token
    }
  }

  /// Takes over the members of a newer entry and keeps its own other members.
  mutating func merge(_ newer: CacheEntry) {
    form = .made(secret: newer.secret ?? secret, members: members.merging(newer.members) { _, new in new })
  }

  /// Appends the entry as an object.
  func write(to writer: inout JSONWriter) {
    switch form {
    case .plain(let entry): writer.append(verbatim: entry.text.copy(entry.range))
    case .made(let secret, let members):
      writer.openObject()
      for name in (members.keys + (secret == nil ? [] : ["secret"])).sorted() {
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
}

extension CacheEntry: Equatable {
  /// Compares the members, however they are spelled.
  package static func == (left: CacheEntry, right: CacheEntry) -> Bool {
    left.secret == right.secret && left.members == right.members
  }
}

extension CacheEntry: CustomStringConvertible {
  /// The names of the members, never their values.
  package var description: String { "CacheEntry(\(members.keys.sorted().joined(separator: ", ")))" }
}
