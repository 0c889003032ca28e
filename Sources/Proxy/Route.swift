// A route for requests: every text rendered to bytes once, so that matching and rewriting only copy and compare.
// Configuration checks routes; the RouteTable chooses one for a request.

import Bytes
package import HTTP
package import Identity
internal import Platform
package import Routing

/// A route, ready to match and forward.
package final class Route: Sendable {
  /// Position in the configuration; also the index of the route's metrics.
  package let index: Int
  /// The name in logs, metrics and problem documents.
  package let name: String
  package let displayName: String?
  package let applicationName: String?
  package let nameBytes: [UInt8]
  /// The host it is for, lower case; `nil`: any.
  package let host: [UInt8]?
  /// The path prefix, with `/` at both ends.
  package let path: [UInt8]
  /// The methods it takes; `nil`: any.
  package let methods: [[UInt8]]?
  /// `Allow` for a 405 (RFC 9110 §10.2.1).
  package let allow: [UInt8]
  /// The index of its upstream's pool in a loop.
  package let originIndex: Int
  /// `Host` for the upstream.
  package let upstreamAuthority: [UInt8]
  /// The end of the request line and `Host`, the same in nearly every request to the upstream.
  let upstreamLines: [UInt8]
  let upstreamScheme: HTTPScheme
  /// The upstream's host, in lower case and without brackets.
  let upstreamHost: [UInt8]
  let upstreamPort: UInt16
  /// The upstream's path in place of the prefix, with `/` at both ends.
  package let upstreamPath: [UInt8]
  /// True if the caller's `Host` is passed on instead of `upstreamAuthority`.
  package let preservesHost: Bool
  package let allowsWebSocket: Bool
  /// Characters that its paths may hold percent-encoded although servers read them differently.
  package let encodedPath: EncodedPath
  /// The index of its token's slot in a loop; `nil`: none is added.
  package let bearerSlot: Int?
  /// True if those are callers' own tokens, exchanged.
  package let isForCallers: Bool
  /// The field by which callers may choose another slot; nil if they may not.
  package let choice: TokenChoice?
  /// The credential that it adds in place of a token; nil for another route.
  package let fixedCredential: FixedCredential?
  /// The same as requests carry it.
  let fixedValue: BearerValue?
  /// The fields that it sets and removes; nil if there are none.
  package let requestFields: RequestFields?
  /// The `Vary` of its answers: the fields of requests that decide which credential goes to the upstream, which does
  /// not know them.
  let vary: VaryFields
  /// Its rules for tokens beyond adding one.
  package let token: RouteTokenRules
  package let timeouts: ExchangeTimeouts
  /// The API's metadata; nil if the route does not use them.
  let description: ResourceDirectory?

  /// A route; `path` and the upstream's path begin and end with `/`.
  package init(
    index: Int, name: String, displayName: String? = nil, applicationName: String? = nil, host: String?, path: String,
    methods: [String]?, upstream: HTTPURL, originIndex: Int,
    preservesHost: Bool, allowsWebSocket: Bool = false, encodedPath: EncodedPath = [], bearerSlot: Int?,
    isForCallers: Bool = false, choice: TokenChoice? = nil, fixedCredential: FixedCredential? = nil,
    requestFields: RequestFields? = nil, token: RouteTokenRules = RouteTokenRules(),
    timeouts: ExchangeTimeouts, description: ResourceDirectory? = nil
  ) {
    precondition(path.hasPrefix("/") && path.hasSuffix("/"), "a route's path has a slash at both ends")
    precondition(upstream.target.hasSuffix("/"), "an upstream's path ends with a slash")
    self.index = index
    self.name = name
    self.displayName = displayName
    self.applicationName = applicationName
    nameBytes = Array(name.utf8)
    self.host = host.map { Array($0.utf8) }
    self.path = Array(path.utf8)
    self.methods = methods.map { $0.map { Array($0.utf8) } }
    allow = Array((methods ?? []).sorted().joined(separator: ", ").utf8)
    self.originIndex = originIndex
    upstreamAuthority = Array(upstream.authority.utf8)
    upstreamLines = Array(" HTTP/1.1\r\nHost: \(upstream.authority)\r\n".utf8)
    upstreamPath = Array(upstream.target.utf8)
    upstreamScheme = upstream.scheme
    upstreamHost = Array(upstream.host.utf8)
    upstreamPort = upstream.port
    self.preservesHost = preservesHost
    self.allowsWebSocket = allowsWebSocket
    self.encodedPath = encodedPath
    self.bearerSlot = bearerSlot
    self.isForCallers = isForCallers
    self.choice = choice
    self.fixedCredential = fixedCredential
    fixedValue = fixedCredential.map { BearerValue($0) }
    self.requestFields = requestFields
    var deciding = choice.map { [$0.field] } ?? []
    if token.existing == .keep {
      if bearerSlot != nil { deciding.append("Authorization") }
      if let fixedCredential { deciding.append(fixedCredential.name.text) }
    }
    vary = VaryFields(deciding)
    self.token = token
    self.timeouts = timeouts
    self.description = description
  }

  var upstreamOrigin: String {
    "\(upstreamScheme.text)://\(String(decoding: upstreamAuthority, as: UTF8.self))"
  }

  func isNamed(_ text: Span<UInt8>) -> Bool {
    let own = nameBytes
    return equal(own.span, text)
  }

  func takes(method: Span<UInt8>) -> Bool {
    guard let methods else { return true }
    for candidate in methods where equal(candidate.span, method) { return true }
    return false
  }

  /// True if a caller's trailer line has the name of a field that is the route's own.
  func consumes(_ line: FieldLine, _ bytes: Span<UInt8>) -> Bool {
    choice?.consumes(line, bytes) == true || fixedCredential?.name.matches(line, bytes) == true
      || requestFields?.consumes(line, bytes) == true
  }

  /// True if every field of a request that overrides its method names one of the route's.
  func takesOverrides(of head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    guard let methods, head.fields.containsAny(of: MethodOverride.names) else { return true }
    for index in 0..<head.fields.count where MethodOverride.names.contains(head.fields[index].known) {
      let value = bytes.extracting(head.fields[index].value)
      // Frameworks that obey such a field take any letter case.
      if !methods.contains(where: { value.equalsIgnoringCase($0.span) }) { return false }
    }
    return true
  }

  /// True if `path` is at or below the prefix, by whole segments: `/orders/` takes `/orders`, `/orders/` and
  /// `/orders/7`, not `/ordersx`.
  func takes(path: Span<UInt8>) -> Bool {
    let bytes = self.path
    let prefix = bytes.span
    if path.count >= prefix.count { return equal(path.extracting(first: prefix.count), prefix) }
    return path.count == prefix.count - 1 && equal(path, prefix.extracting(first: path.count))
  }

  /// Appends the upstream's path for `path`.
  func appendUpstreamPath(for path: Span<UInt8>, to buffer: inout ByteBuffer) {
    let prefix = self.path.count
    let base = upstreamPath
    if path.count >= prefix {
      buffer.append(base)
      buffer.append(path.extracting(droppingFirst: prefix))
    } else if base.count == 1 {
      // The prefix without its slash, onto the root: a target is never empty.
      buffer.append(base)
    } else {
      buffer.append(base.span.extracting(droppingLast: 1))
    }
  }
}

extension BearerValue {
  /// A fixed credential as requests carry it.
  package convenience init(_ credential: FixedCredential) {
    self.init(
      fixed: credential.value, in: credential.name.isAuthorization ? nil : credential.name.text,
      schemeCount: credential.schemeCount)
  }
}
