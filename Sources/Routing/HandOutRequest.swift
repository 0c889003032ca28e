internal import Bytes
package import HTTP

/// The reason why a request for a token is not acceptable.
package enum HandOutRefusal: Error, Sendable, Hashable {
  /// It carries a field that only browsers send: a page may be behind it.
  case browser
  /// It has content, which no such request needs.
  case content
  /// The fields that describe the engine's request are missing, repeated or not valid.
  case description
  /// `X-Bearer-Refused`, `X-Bearer-Status` or `X-Bearer-Unavailable` is repeated or not valid.
  case fields
  case route
  /// The described request is not one for the named route, or its path has more than one meaning.
  case otherRoute
  /// The content of a question in the gRPC form is not one message of its kind.
  case message
  /// The engine asks for the refusal that it got a moment ago, and there is a token by now.
  case overtaken
}

/// The route that a request for a token names: `/.bearer/authorize/ROUTE`, with anything behind it, or
/// `/.bearer/authorize` alone.
package enum HandOutPath: Sendable, Hashable {
  /// The route by its name, a range of the path.
  case named(ByteRange)
  /// The route that takes the request which the engine describes in its fields.
  case described
  /// The path behind the name leads out of it for some reader, so that the name may be another request's.
  case ambiguous

  /// Reads a path as it was sent, without its query; nil if it is not for this endpoint. It is not normalised first:
  /// an engine that rewrites paths must not lead a caller's path to another route's name.
  package init?(_ path: Span<UInt8>) {
    let root: StaticString = "/.bearer/authorize"
    let length = root.utf8CodeUnitCount
    guard path.startsIgnoringCase(with: root) else { return nil }
    if path.count == length {
      self = .described
      return
    }
    guard path[length] == ASCII.slash else { return nil }
    var end = length + 1
    while end < path.count, path[end] != ASCII.slash { end += 1 }
    let rest = path.extracting(droppingFirst: end)
    self = NormalPath.staysBelow(rest) ? .named(ByteRange(from: length + 1, to: end)) : .ambiguous
  }
}

/// A request for a route's token from an engine (nginx, Envoy, Caddy …) that forwards its callers' requests itself.
package struct HandOutRequest: Sendable, Hashable {
  /// A refusal of an upstream that the engine reports.
  package struct Refused: Sendable, Hashable {
    /// The value of the `Authorization` field that the upstream refused, or of the route's own field.
    package var credential: ByteRange
    /// 401 or 403.
    package var status: Int

    /// True if it is a bearer token with its scheme.
    package func isBearer(_ bytes: Span<UInt8>) -> Bool {
      let value = bytes.extracting(credential)
      return value.count > HandOutRequest.schemeLength && value.startsIgnoringCase(with: "bearer ")
    }
  }

  /// The upstream's refusal; nil if the engine asks for the first time.
  package var refused: Refused?
  /// The status in place of one from 500 up, for engines that pass on none of those.
  package var unavailableStatus: Int?
  /// True if the engine asks once more for the whole answer of a refusal, to pass it on: a token would be no answer.
  package var wantsRefusal = false

  /// Bytes of `Bearer` and the space behind it.
  package static let schemeLength = 7

  package init(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ framing: BodyFraming) throws(HandOutRefusal) {
    if BrowserRequest.isBehind(head, bytes) { throw .browser }
    switch framing {
    case .none, .fixed(0): break
    default: throw .content
    }
    var status: Int?
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      guard line.known == .other, line.name.count >= 10 else { continue }
      let (name, value) = (bytes.extracting(line.name), bytes.extracting(line.value))
      if name.equalsIgnoringCase("x-bearer-refused") {
        if value.isEmpty { continue }
        guard refused == nil else { throw .fields }
        refused = Refused(credential: line.value, status: 401)
      } else if name.equalsIgnoringCase("x-bearer-status") {
        if value.isEmpty { continue }
        guard status == nil, let number = Self.status(value, 401...403), number != 402 else { throw .fields }
        status = number
      } else if name.equalsIgnoringCase("x-bearer-answer") {
        guard value.equalsIgnoringCase("refusal") else { throw .fields }
        wantsRefusal = true
      } else if name.equalsIgnoringCase("x-bearer-unavailable") {
        guard unavailableStatus == nil, let number = Self.status(value, 400...599) else { throw .fields }
        unavailableStatus = number
      }
    }
    if let status { refused?.status = status }
  }

  private static func status(_ value: Span<UInt8>, _ allowed: ClosedRange<Int>) -> Int? {
    guard value.count == 3, let number = value.decimal.map({ Int($0) }) else { return nil }
    return allowed.contains(number) ? number : nil
  }

  /// The values of the fields that carry the upstream's `WWW-Authenticate`.
  package static func eachChallenge(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ body: (Span<UInt8>) -> Void
  ) {
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      if line.known == .other, !line.value.isEmpty,
        bytes.extracting(line.name).equalsIgnoringCase("x-bearer-challenge")
      {
        body(bytes.extracting(line.value))
      }
    }
  }
}

/// The parts of a request that choose its route, each within the head.
package struct RequestLine: Sendable, Hashable {
  /// Without a port.
  package var host: ByteRange
  /// Without the query.
  package var path: ByteRange
  package var method: ByteRange

  package init(host: ByteRange, path: ByteRange, method: ByteRange) {
    self.host = host
    self.path = path
    self.method = method
  }
}

/// An engine's description of the request that it is about to forward: the route is chosen by it as by the request
/// itself. The two families of fields are not mixed: a caller may have sent the one that the engine does not set.
extension RequestLine {
  /// Reads `X-Forwarded-Method`, `-Uri` and `-Host` (Caddy, Traefik), or `X-Original-Method` and `-URI` (nginx), with
  /// the request's own `Host`; nil if none of them names a method or a path.
  package init?(describedBy head: borrowing RequestHead, _ bytes: Span<UInt8>) throws(HandOutRefusal) {
    func only(_ name: StaticString) throws(HandOutRefusal) -> ByteRange? {
      let (value, count) = head.fields.values(named: name, in: bytes)
      if count == 0 { return nil }
      guard count == 1, !value.isEmpty else { throw .description }
      return value
    }
    let (method, uri) = (try only("x-forwarded-method"), try only("x-forwarded-uri"))
    let (originalMethod, originalURI) = (try only("x-original-method"), try only("x-original-uri"))
    switch (method, uri, originalMethod, originalURI) {
    case (let method?, let uri?, nil, nil):
      guard let named = try only("x-forwarded-host"), let name = HostName(bytes.extracting(named)) else {
        throw .description
      }
      let start = Int(named.start)
      self.init(
        host: ByteRange(from: start + name.host.indices.lowerBound, to: start + name.host.indices.upperBound),
        path: try Self.path(of: uri, bytes), method: method)
    case (nil, nil, let method?, let uri?):
      self.init(host: head.host, path: try Self.path(of: uri, bytes), method: method)
    case (nil, nil, nil, nil): return nil
    default: throw .description
    }
  }

  private static func path(of uri: ByteRange, _ bytes: Span<UInt8>) throws(HandOutRefusal) -> ByteRange {
    let text = bytes.extracting(uri)
    guard text[0] == ASCII.slash else { throw .description }
    var end = 0
    while end < text.count, text[end] != ASCII.question {
      // As in a request line (RFC 9112 §3): no space, no control, no fragment.
      guard text[end] > 0x20, text[end] < 0x7F, text[end] != UInt8(ascii: "#") else { throw .description }
      end += 1
    }
    return ByteRange(from: Int(uri.start), to: Int(uri.start) + end)
  }
}
