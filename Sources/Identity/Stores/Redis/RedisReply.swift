// The Redis protocol: commands and replies (RESP2, and the types that RESP3 adds). It knows neither sockets nor the
// meaning of a command.

/// A server's reply to one command.
package enum RedisReply: Sendable, Hashable {
  /// A string of any kind.
  case text([UInt8])
  /// A whole number.
  case integer(Int64)
  /// Nothing there.
  case null
  /// A list; of a map, names and values in turn.
  case list([RedisReply])
  /// A refusal by a node of a cluster that names the one to ask: for good (MOVED), or this time (ASK). An empty host
  /// is the node's own.
  case redirection(RedisPlace, isForGood: Bool)
  /// A refusal: its first word. The rest may repeat the command, secrets included, and is never kept.
  case refusal(String)
}

extension RedisReply {
  /// The text of a string; nil for everything else.
  package var string: String? {
    if case .text(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
  }

  /// A whole number, which scripts and keys may also return as text.
  var number: Int64? {
    if case .integer(let number) = self { number } else { string.flatMap { Int64($0) } }
  }

  /// The elements of a list; nil for everything else.
  package var elements: [RedisReply]? {
    if case .list(let elements) = self { elements } else { nil }
  }
}

/// Reads replies out of a buffer that grows.
package struct RedisReplyReader {
  /// The beginning of a buffer.
  package enum Outcome: Hashable {
    /// A reply, and its length in bytes.
    case reply(RedisReply, count: Int)
    /// The beginning of one.
    case needsMore
    /// No reply of a Redis server.
    case invalid
  }

  /// Maximum bytes of a string.
  static let textLimit = 64 << 20
  /// Maximum elements of a list.
  static let countLimit = 4 << 20
  /// Maximum depth of lists.
  static let depthLimit = 8
  /// Maximum bytes of a line: refusals may be long.
  static let lineLimit = 64 << 10

  private static let kinds = Array("+-:$*_,(#!=%~>".utf8)

  private enum Stop: Error {
    case needsMore
    case invalid
  }

  package static func read(_ bytes: Span<UInt8>) -> Outcome {
    var index = 0
    do throws(Stop) {
      let reply = try value(bytes, &index, depth: 0)
      return .reply(reply, count: index)
    } catch {
      return error == .needsMore ? .needsMore : .invalid
    }
  }

  private static func value(_ bytes: Span<UInt8>, _ index: inout Int, depth: Int) throws(Stop) -> RedisReply {
    guard depth <= depthLimit else { throw .invalid }
    guard index < bytes.count else { throw .needsMore }
    let kind = bytes[index]
    // Before the end of the line: another protocol's answer, such as an HTTP server's, may never have one.
    guard kinds.contains(kind) else { throw .invalid }
    index += 1
    let line = try line(bytes, &index)
    switch kind {
    case UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: "("), UInt8(ascii: "#"):
      return .text(line)
    case UInt8(ascii: "-"):
      return redirection(line) ?? .refusal(code(line))
    case UInt8(ascii: ":"):
      return .integer(try number(line))
    case UInt8(ascii: "_"):
      return .null
    case UInt8(ascii: "$"), UInt8(ascii: "="), UInt8(ascii: "!"):
      guard let text = try text(bytes, &index, count: try number(line)) else { return .null }
      // A verbatim string begins with three letters of its format and a colon.
      if kind == UInt8(ascii: "=") { return .text(Array(text.dropFirst(4))) }
      return kind == UInt8(ascii: "!") ? .refusal(code(text)) : .text(text)
    case UInt8(ascii: "*"), UInt8(ascii: "~"), UInt8(ascii: ">"):
      return try list(bytes, &index, count: try number(line), depth: depth)
    case UInt8(ascii: "%"):
      let pairs = try number(line)
      guard (0...Int64(countLimit)).contains(pairs) else { throw .invalid }
      return try list(bytes, &index, count: pairs * 2, depth: depth)
    default:
      throw .invalid
    }
  }

  private static func list(
    _ bytes: Span<UInt8>, _ index: inout Int, count: Int64, depth: Int
  ) throws(Stop) -> RedisReply {
    if count == -1 { return .null }
    guard (0...Int64(countLimit)).contains(count) else { throw .invalid }
    var elements: [RedisReply] = []
    elements.reserveCapacity(min(Int(count), bytes.count - index))
    for _ in 0..<count { elements.append(try value(bytes, &index, depth: depth + 1)) }
    return .list(elements)
  }

  private static func text(_ bytes: Span<UInt8>, _ index: inout Int, count: Int64) throws(Stop) -> [UInt8]? {
    if count == -1 { return nil }
    guard (0...Int64(textLimit)).contains(count) else { throw .invalid }
    let end = index + Int(count)
    guard end + 2 <= bytes.count else { throw .needsMore }
    guard bytes[end] == 0x0D, bytes[end + 1] == 0x0A else { throw .invalid }
    let text = bytes.extracting(index..<end).withUnsafeBufferPointer { Array($0) }
    index = end + 2
    return text
  }

  private static func line(_ bytes: Span<UInt8>, _ index: inout Int) throws(Stop) -> [UInt8] {
    var end = index
    while end < bytes.count, bytes[end] != 0x0D {
      end += 1
      if end - index > lineLimit { throw .invalid }
    }
    guard end + 1 < bytes.count else { throw .needsMore }
    guard bytes[end + 1] == 0x0A else { throw .invalid }
    let line = bytes.extracting(index..<end).withUnsafeBufferPointer { Array($0) }
    index = end + 2
    return line
  }

  private static func number(_ line: [UInt8]) throws(Stop) -> Int64 {
    guard let number = Int64(String(decoding: line, as: UTF8.self)) else { throw .invalid }
    return number
  }

  /// `MOVED 3999 host:port`, or the same with ASK.
  private static func redirection(_ line: [UInt8]) -> RedisReply? {
    let words = String(decoding: line, as: UTF8.self).split(separator: " ")
    guard words.count == 3, words[0] == "MOVED" || words[0] == "ASK", let colon = words[2].lastIndex(of: ":"),
      let port = UInt16(words[2][words[2].index(after: colon)...]), port > 0
    else { return nil }
    let host = words[2][..<colon].lowercased().filter { $0 != "[" && $0 != "]" }
    return .redirection(RedisPlace(host: host, port: port), isForGood: words[0] == "MOVED")
  }

  /// The first word of a refusal, if it looks like one of Redis's.
  private static func code(_ line: [UInt8]) -> String {
    let word = line.prefix { $0 != 0x20 }
    let isCode = (1...24).contains(word.count) && word.allSatisfy { (0x41...0x5A).contains($0) || $0 == 0x5F }
    return isCode ? String(decoding: word, as: UTF8.self) : "ERR"
  }
}
