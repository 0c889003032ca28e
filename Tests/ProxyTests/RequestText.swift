// Requests, responses and routes for tables: written as text, parsed by the HTTP module.

import Bytes
import HTTP
import Platform
import Routing
import Testing

@testable import Proxy

/// A text of a table that is no acceptable message.
struct UnacceptableText: Error {
  let text: String
}

/// Parses `text`, a request head and what follows, and lends both to `body`.
func withRequest<Result, Failure: Error>(
  _ text: String, _ body: (borrowing RequestHead, borrowing ByteBuffer) throws(Failure) -> Result
) throws -> Result {
  var buffer = ByteBuffer(capacity: 4096)
  buffer.append(Array(text.utf8))
  var parser = RequestHeadParser()
  var head = RequestHead()
  guard case .complete = buffer.withBytes({ parser.parse($0, into: &head, limits: HeadLimits()) }) else {
    throw UnacceptableText(text: text)
  }
  return try body(head, buffer)
}

/// Parses `text`, a response head, and lends it to `body`.
func withResponse<Result>(
  _ text: String, _ body: (borrowing ResponseHead, borrowing ByteBuffer) throws -> Result
) throws -> Result {
  var buffer = ByteBuffer(capacity: 4096)
  buffer.append(Array(text.utf8))
  var parser = ResponseHeadParser()
  var head = ResponseHead()
  guard case .complete = buffer.withBytes({ parser.parse($0, into: &head, limits: HeadLimits()) }) else {
    throw UnacceptableText(text: text)
  }
  return try body(head, buffer)
}

extension RequestContext {
  /// A request whose head is `text`.
  convenience init(_ text: String) throws {
    self.init(HeadLimits())
    var input = ByteBuffer(capacity: 4096)
    input.append(Array(text.utf8))
    guard case .complete(let byteCount) = input.withBytes({ parser.parse($0, into: &head, limits: HeadLimits()) })
    else {
      throw UnacceptableText(text: text)
    }
    takeHead(byteCount, from: &input)
    var ones = Ones()
    RequestIdentity.write(head, headBytes, using: &ones, into: &identity)
  }
}

extension UpstreamAttempt {
  /// An attempt whose answer's head is `text`.
  convenience init(_ text: String) throws {
    self.init(HeadLimits())
    input.append(Array(text.utf8))
    guard case .complete(let byteCount) = input.withBytes({ parser.parse($0, into: &head, limits: HeadLimits()) })
    else {
      throw UnacceptableText(text: text)
    }
    headBytes = byteCount
  }
}

extension Route {
  /// A route of a table.
  convenience init(
    _ path: String, index: Int = 0, host: String? = nil, methods: [String]? = nil,
    upstream: String = "http://up.example/", preservesHost: Bool = false, encodedPath: EncodedPath = [],
    bearerSlot: Int? = nil, choice: TokenChoice? = nil, fixedCredential: FixedCredential? = nil,
    requestFields: RequestFields? = nil
  ) throws {
    self.init(
      index: index, name: "route\(index)", host: host, path: path, methods: methods, upstream: try HTTPURL(upstream),
      originIndex: 0, preservesHost: preservesHost, encodedPath: encodedPath, bearerSlot: bearerSlot,
      choice: choice, fixedCredential: fixedCredential, requestFields: requestFields,
      timeouts: ExchangeTimeouts(connect: .seconds(5), responseHead: .seconds(5), idle: .seconds(5), whole: nil))
  }
}

extension ByteBuffer {
  /// Everything unread, as text.
  var text: String { bytes.text }
}

/// 1, 2, 3 and so on in the place of random numbers.
struct Counting: RandomNumberGenerator {
  private var last: UInt64 = 0

  mutating func next() -> UInt64 {
    last += 1
    return last
  }
}

/// 1 in the place of every random number.
struct Ones: RandomNumberGenerator {
  mutating func next() -> UInt64 { 1 }
}
