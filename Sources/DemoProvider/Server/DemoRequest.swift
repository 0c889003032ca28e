// Owns a request as the rules of this module see it: whole, small, and without a socket.

/// What arrived of a request's body.
public enum ReceivedBody: Sendable, Hashable {
  /// Everything, because it is small.
  case whole([UInt8])
  /// Only its size and SHA-256, because it may be large.
  case digest(byteCount: UInt64, sha256: [UInt8])

  /// The bytes, where they were kept.
  var bytes: [UInt8] { if case .whole(let bytes) = self { bytes } else { [] } }
}

/// A request with its body.
public struct DemoRequest: Sendable {
  /// The method, as sent.
  public var method: String
  /// The path, as sent.
  public var path: String
  /// The query without its question mark; empty where there is none.
  public var query: String
  /// The fields in order, names in lower case.
  public var fields: [(name: String, value: String)]
  /// The body.
  public var body: ReceivedBody

  /// A request.
  public init(
    method: String, path: String, query: String = "", fields: [(name: String, value: String)] = [],
    body: ReceivedBody = .whole([])
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.fields = fields
    self.body = body
  }

  /// The first field of this lower-case name.
  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The number behind `name=` in the query, where there is one.
  func queryNumber(_ name: String) -> Int? {
    for pair in query.split(separator: "&") where pair.hasPrefix("\(name)=") {
      return Int(pair.dropFirst(name.count + 1))
    }
    return nil
  }
}
