// Requests, responses and routes for tables: written as text, parsed by the HTTP module.

import Bytes
import HTTP
import Routing
import Testing

@testable import Proxy

/// A text of a table that is no acceptable message.
struct UnacceptableText: Error {
  let text: String
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
    requestFields: RequestFields? = nil, token: RouteTokenRules = RouteTokenRules()
  ) throws {
    self.init(
      index: index, name: "route\(index)", host: host, path: path, methods: methods, upstream: try HTTPURL(upstream),
      originIndex: 0, preservesHost: preservesHost, encodedPath: encodedPath, bearerSlot: bearerSlot,
      choice: choice, fixedCredential: fixedCredential, requestFields: requestFields, token: token,
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
