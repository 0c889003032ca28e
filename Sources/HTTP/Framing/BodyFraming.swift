// The length of a message's content, on which request smuggling depends. The steps are those of RFC 9112 §6.3; a
// mistake that a recipient may repair is refused.

import Bytes

/// The end of a message's content.
public enum BodyFraming: Sendable, Hashable {
  case none
  /// Exactly this many bytes, possibly 0.
  case fixed(UInt64)
  /// Chunks, up to the last one and the trailer section (`ChunkedDecoder`).
  case chunked
  /// All bytes until the connection is closed; only of responses.
  case untilClose

  /// The end of a request's content.
  public static func request(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) throws(FramingError) -> BodyFraming {
    switch try stated(head.fields, bytes, head.version) {
    // Items 4 to 6.
    case .chunked: .chunked
    case .length(let length): .fixed(length)
    // Item 7: a request with neither field has no content.
    case .nothing: .none
    }
  }

  /// The end of a response's content, given the method of its request. Not for CONNECT, whose 2xx answers open a tunnel
  /// (item 2); a gateway does not send that.
  public static func response(
    _ head: borrowing ResponseHead, _ bytes: Span<UInt8>, requestMethod: RequestMethod
  ) throws(FramingError) -> BodyFraming {
    let stated = try stated(head.fields, bytes, head.version)
    // Item 1: HEAD, 1xx, 204 and 304 end with the head, whatever the fields are. They were checked all the same: a bad
    // length must not be sent on.
    if requestMethod == .head || head.status < 200 || head.status == 204 || head.status == 304 { return .none }
    switch stated {
    // Items 4 to 6.
    case .chunked: return .chunked
    case .length(let length): return .fixed(length)
    // Item 8: a response with neither field ends with its connection.
    case .nothing: return .untilClose
    }
  }

  private enum Statement {
    case nothing
    case length(UInt64)
    case chunked
  }

  // The meaning of the two fields, the same for requests and responses.
  private static func stated(
    _ fields: borrowing FieldTable, _ bytes: Span<UInt8>, _ version: HTTPVersion
  ) throws(FramingError) -> Statement {
    guard let codingLine = fields.index(of: .transferEncoding) else {
      guard let lengthLine = fields.index(of: .contentLength) else { return .nothing }
      // Item 5: several lengths may be taken for one if they are the same. No sender needs that.
      if fields.index(of: .contentLength, from: lengthLine + 1) != nil { throw .contentLengthRepeated }
      return .length(try length(bytes.extracting(fields[lengthLine].value)))
    }
    // Item 3.
    if fields.contains(.contentLength) { throw .bothLengths }
    if !version.hasChunks { throw .transferEncodingInHTTP10 }
    if fields.index(of: .transferEncoding, from: codingLine + 1) != nil { throw .transferEncodingInvalid }
    // Item 4.
    let coding = bytes.extracting(fields[codingLine].value)
    if coding.equalsIgnoringCase("chunked") { return .chunked }
    throw isList(coding) ? .transferCodingUnknown : .transferEncodingInvalid
  }

  //     Content-Length = 1*DIGIT                                                          (RFC 9110 §8.6)
  private static func length(_ value: Span<UInt8>) throws(FramingError) -> UInt64 {
    if value.isEmpty { throw .contentLengthInvalid }
    var length: UInt64 = 0
    for index in 0..<value.count {
      let digit = value[index] &- ASCII.zero
      if digit >= 10 { throw value[index] == ASCII.comma ? .contentLengthRepeated : .contentLengthInvalid }
      // 2^63 - 1 is the maximum that all parties can count.
      if length > (UInt64(Int64.max) - UInt64(digit)) / 10 { throw .contentLengthInvalid }
      length = length * 10 + UInt64(digit)
    }
    return length
  }

  // True if a Transfer-Encoding that is not `chunked` alone at least names codings, of which the last is `chunked`.
  // Then the fault is ours (501), else the sender's (400).
  private static func isList(_ value: Span<UInt8>) -> Bool {
    var index = 0
    var last = 0..<0
    while index < value.count {
      let start = index
      while index < value.count, ByteClass.of(value[index], ByteClass.token) { index += 1 }
      if index == start { return false }
      last = start..<index
      while index < value.count, ByteClass.of(value[index], ByteClass.whitespace) { index += 1 }
      if index == value.count { break }
      if value[index] != ASCII.comma { return false }
      index += 1
      while index < value.count, ByteClass.of(value[index], ByteClass.whitespace) { index += 1 }
      if index == value.count { return false }
    }
    return value.extracting(last).equalsIgnoringCase("chunked")
  }
}

/// The fault of a message whose length is not certain (RFC 9112 §6). It completes "cannot be told:".
public enum FramingError: String, Error, Sendable, Hashable, CaseIterable {
  /// 2^63 and more are none, either.
  case contentLengthInvalid = "Content-Length is not a decimal number"
  /// Be it as lines or as a list, the same value or not.
  case contentLengthRepeated = "there is more than one Content-Length"
  /// RFC 9112 §6.3 item 3: possibly request smuggling.
  case bothLengths = "there are both Content-Length and Transfer-Encoding"
  /// RFC 9112 §6.1: faulty framing.
  case transferEncodingInHTTP10 = "HTTP/1.0 has no Transfer-Encoding"
  /// Empty, repeated, or not a list of codings that ends in one `chunked`.
  case transferEncodingInvalid = "Transfer-Encoding is not 'chunked'"
  case transferCodingUnknown = "a transfer coding other than chunked"

  /// The status code to answer a request with. A response with any of these is a 502.
  public var status: Int { self == .transferCodingUnknown ? 501 : 400 }
}
