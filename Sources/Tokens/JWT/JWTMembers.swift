internal import Bytes

/// The members of an object. One of another type than its definition's is a mistake; null is an absence.
struct JWTMembers {
  private let members: [String: JSONValue]
  /// The part that a mistake is in.
  private let part: JWTRefusal.Part

  init(_ members: [String: JSONValue], of part: JWTRefusal.Part) {
    (self.members, self.part) = (members, part)
  }

  /// Reads an object. Two equal names are refused: other readers of the token would see another one.
  init(json: [UInt8], of part: JWTRefusal.Part) throws(JWTRefusal) {
    let value = try mapping(
      { (_: JSONTextError) in JWTRefusal.json(part) }, JSONValue(text: json, repetition: .refused))
    guard let members = value.members else { throw .json(part) }
    self.init(members, of: part)
  }

  var count: Int { members.count }

  func contains(_ name: String) -> Bool { members[name] != nil }

  func text(_ name: String) throws(JWTRefusal) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.text else { throw .json(part) }
    return text
  }

  /// The text of the first of two members that is there.
  func text(_ name: String, or other: String) throws(JWTRefusal) -> String? {
    if let text = try text(name) { return text }
    return try text(other)
  }

  /// The texts of an array.
  func list(_ name: String) throws(JWTRefusal) -> [String]? {
    guard let value = value(name) else { return nil }
    guard case .array(let values) = value, case let texts = values.compactMap(\.text), texts.count == values.count
    else {
      throw .json(part)
    }
    return texts
  }

  /// The texts of an array, or the one text (RFC 7519 §4.1.3).
  func oneOrSeveral(_ name: String) throws(JWTRefusal) -> [String] {
    if let text = value(name)?.text { return [text] }
    return try list(name) ?? []
  }

  /// The words of scopes, between spaces.
  func words(_ name: String) throws(JWTRefusal) -> [String] {
    try oneOrSeveral(name).flatMap { $0.split(separator: " ").map(String.init) }
  }

  /// Seconds since 1970, perhaps with a fraction, which is cut off (RFC 7519 §2).
  func time(_ name: String) throws(JWTRefusal) -> UnixTime? {
    switch value(name) {
    case nil: return nil
    // Beyond 2^53 a double no longer counts seconds: other readers would see another time.
    case .integer(let seconds)? where seconds.magnitude < 1 << 53: return UnixTime(seconds)
    case .number(let seconds)? where seconds.magnitude < 0x1p53: return UnixTime(Int64(seconds.rounded(.down)))
    default: throw .json(part)
    }
  }

  func bytes(_ name: String) throws(JWTRefusal) -> [UInt8]? {
    guard let text = try text(name) else { return nil }
    return try mapping({ JWTRefusal.base64url(part, $0) }, Base64URL.decode(text))
  }

  func object(_ name: String) throws(JWTRefusal) -> JWTMembers? {
    guard let value = value(name) else { return nil }
    guard let members = value.members else { throw .json(part) }
    return JWTMembers(members, of: part)
  }

  private func value(_ name: String) -> JSONValue? { members[name].flatMap { $0 == .null ? nil : $0 } }
}
