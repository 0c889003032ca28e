// Owns everything that is decided about a request before a token or an upstream is involved.

internal import HTTP

/// A request that may be forwarded, and what was decided about it.
struct Admission {
  /// The route it takes.
  let route: Route
  /// How its content ends.
  let framing: BodyFraming
  /// Whether the path to forward is the normal form in the scratch buffer instead of the one sent.
  let usesNormalPath: Bool
  /// Whether the caller may wait for a 100 before it sends its content.
  let expectsContinue: Bool
  /// Whether the request asks this proxy and nobody behind it: OPTIONS with `Max-Forwards: 0` (RFC 9110 §7.6.2).
  let isForProxy: Bool
  /// Whether the exchange may become a WebSocket.
  let asksForWebSocket: Bool
  /// Whether the caller's connection can go on after it.
  let persistence: Persistence
  /// The caller's version.
  let version: HTTPVersion
  /// The method.
  let method: RequestMethod

  /// Whether the request has content, or may have.
  var hasContent: Bool { framing != .none && framing != .fixed(0) }

  /// Judges the request whose head `input` begins with. `normalPath` is empty, and receives the path's normal form where that differs; `reader`, the origin of
  /// the other site whose page may read the answer. `found` is the
  /// route, also where the request is refused after it was found.
  init(
    _ head: borrowing RequestHead, _ input: borrowing ByteBuffer, callers: borrowing CallerCheck,
    isTLS: Bool, pseudonym: Pseudonym, table: borrowing RouteTable, bodyLimit: UInt64, normalPath: inout ByteBuffer,
    found: inout Route?,
    reader: inout ByteBuffer
  ) throws(ExchangeFailure) {
    let bytes = input.bytes
    let framing: BodyFraming
    do throws(FramingError) {
      framing = try BodyFraming.request(head, bytes)
    } catch {
      throw .framing(error)
    }
    let isForAnotherSite = callers.answersAnotherSite(head, bytes)
    if isForAnotherSite, let origin = head.fields.first(.origin) { reader.append(bytes.extracting(origin.value)) }
    // A preflight carries no secret yet: browsers leave them out (Fetch §4.8).
    if isForAnotherSite, SiteSharing.isPreflight(head, bytes), callers.isNamed(head, bytes) { throw .preflight }
    if let refusal = callers.judge(head, bytes) { throw .caller(refusal) }
    if pseudonym.isNamed(in: head, bytes) { throw .loop }
    if head.method == .connect || head.method == .trace { throw .methodRefused }
    if head.target.form == .asterisk { throw .targetRefused }
    // An https resource is served over a secured connection only (RFC 9110 §7.4).
    if head.target.scheme == .https, !isTLS { throw .schemeRefused }
    let expectation = ExpectContinue.of(head, bytes)
    if expectation == .unknown { throw .expectation }
    let forwards = MaxForwards.of(head, bytes)
    if forwards == .invalid { throw .maxForwards }

    let sent = bytes.extracting(head.target.path)
    switch NormalPath.normalise(
      sent, into: &normalPath, removesEncodedSlashes: table.hasOnePath, allowing: table.encodedPath)
    {
    case .alreadyNormal: usesNormalPath = false
    case .written: usesNormalPath = true
    case .refused(let error): throw .path(error)
    }
    let route =
      if usesNormalPath {
        try Self.route(head, bytes, path: normalPath.bytes, table: table, found: &found)
      } else {
        try Self.route(head, bytes, path: sent, table: table, found: &found)
      }
    if !table.encodedPath.subtracting(route.encodedPath).isEmpty { try Self.judge(sent, by: route) }
    if case .fixed(let count) = framing, count > bodyLimit { throw .tooLarge }
    self.route = route
    self.framing = framing
    expectsContinue = expectation == .continue100
    isForProxy = forwards == .exhausted
    asksForWebSocket = route.allowsWebSocket && WebSocketUpgrade.isAsked(head, bytes, framing: framing)
    persistence = Persistence.after(request: head)
    version = head.version
    method = head.method
  }

  // Refuses what other routes let through and this one does not.
  private static func judge(_ sent: Span<UInt8>, by route: Route) throws(ExchangeFailure) {
    var normalPath = ByteBuffer(capacity: 256)
    if case .refused(let error) = NormalPath.normalise(sent, into: &normalPath, allowing: route.encodedPath) {
      throw .path(error)
    }
  }

  private static func route(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, path: Span<UInt8>, table: borrowing RouteTable,
    found: inout Route?
  ) throws(ExchangeFailure) -> Route {
    let authority = bytes.extracting(head.authority)
    // Only an HTTP/1.0 request can name no host; it then takes a route of any host.
    let host = if let name = HostName(authority) { authority.extracting(name.host) } else { authority }
    switch table.match(host: host, path: path, method: bytes.extracting(head.methodName)) {
    case .noRoute: throw .noRoute
    case .methodNotAllowed(let route):
      found = route
      throw .methodNotAllowed
    case .ambiguous(let route):
      found = route
      throw .path(.otherRoute)
    case .route(let route):
      found = route
      if !route.takesOverrides(of: head, bytes) { throw .methodNotAllowed }
      // Behind the prefix nothing may lead out of the upstream's path, however the upstream reads it.
      guard path.count <= route.path.count || NormalPath.staysBelow(path.extracting(droppingFirst: route.path.count))
      else { throw .path(.hiddenDotSegment) }
      return route
    }
  }
}
