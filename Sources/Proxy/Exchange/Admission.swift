// Everything that is decided about a request before a token or an upstream is involved.

internal import Bytes
internal import HTTP
internal import Routing

struct Admission: ~Copyable {
  enum Verdict {
    case forward(AdmittedRequest)
    /// A page of another site asks whether it may call, and it may (Fetch §4.8).
    case preflight
    /// OPTIONS that goes no further than this proxy (RFC 9110 §7.6.2).
    case options
    case refused(ExchangeFailure)
  }

  let verdict: Verdict
  /// The route of a forwarded request, and of one that is refused after its route was found.
  private(set) var route: Route?
  /// The origin of the other site whose page may read the answer, within the head; empty if there is none.
  private(set) var corsOrigin = ByteRange()

  consuming func takeRoute() -> Route? { route }

  /// True if the request is for a route and not refused.
  var reachesRoute: Bool {
    switch verdict {
    case .forward, .options: true
    case .preflight, .refused: false
    }
  }

  /// Judges the request whose head `input` begins with. `normalPath` is empty, and receives the path's normal form
  /// if that differs.
  init(
    _ head: borrowing RequestHead, _ input: borrowing ByteBuffer, callers: borrowing CallerCheck, isTLS: Bool,
    pseudonym: borrowing Pseudonym, table: borrowing RouteTable, bodyLimit: UInt64, normalPath: inout ByteBuffer
  ) {
    var route: Route?
    var corsOrigin = ByteRange()
    do throws(ExchangeFailure) {
      let bytes = input.bytes
      let framing = try Self.framing(head, bytes)
      let isForAnotherSite = callers.answersAnotherSite(head, bytes)
      if isForAnotherSite, let origin = head.fields.first(.origin) { corsOrigin = origin.value }
      // A preflight carries no secret yet: browsers leave them out (Fetch §4.8).
      if isForAnotherSite, CORSPolicy.isPreflight(head, bytes), callers.isNamed(head, bytes) {
        verdict = .preflight
      } else {
        if let refusal = callers.judge(head, bytes) { throw .caller(refusal) }
        if pseudonym.isNamed(in: head, bytes) { throw .loop }
        verdict = try Self.judge(
          head, bytes, framing, isTLS: isTLS, table: table, bodyLimit: bodyLimit, normalPath: &normalPath, found: &route
        )
      }
    } catch {
      verdict = .refused(error)
    }
    self.route = route
    self.corsOrigin = corsOrigin
  }

  /// The framing of a request's content.
  static func framing(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>
  ) throws(ExchangeFailure) -> BodyFraming {
    do throws(FramingError) {
      return try BodyFraming.request(head, bytes)
    } catch {
      throw .framing(error)
    }
  }

  private static func judge(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ framing: BodyFraming, isTLS: Bool,
    table: borrowing RouteTable, bodyLimit: UInt64, normalPath: inout ByteBuffer, found: inout Route?
  ) throws(ExchangeFailure) -> Verdict {
    if head.method == .connect || head.method == .trace { throw .methodRefused }
    if head.target.form == .asterisk { throw .targetRefused }
    // An https resource is served over a secured connection only (RFC 9110 §7.4).
    if head.target.scheme == .https, !isTLS { throw .schemeRefused }
    let expectation = ExpectContinue.of(head, bytes)
    if expectation == .unknown { throw .expectation }
    let forwards = MaxForwards.of(head, bytes)
    if forwards == .invalid { throw .maxForwards }

    let line = RequestLine(host: head.host, path: head.target.path, method: head.methodName)
    let (route, usesNormalPath) = try Self.route(
      of: line, head, bytes, table: table, normalPath: &normalPath, found: &found)
    // Here for all that is decided below; handing it on at the end takes no reference more.
    defer { found = route }
    if case .fixed(let count) = framing, count > bodyLimit { throw .delivery(.tooLarge) }
    if forwards == .exhausted { return .options }
    let asksForWebSocket = route.allowsWebSocket && WebSocketUpgrade.isAsked(head, bytes, framing: framing)
    // In HTTP/1.1 a request is served without the upgrade, but a response to a CONNECT means another thing.
    if head.asksForTunnel, !asksForWebSocket { throw .tunnelRefused }
    return .forward(
      AdmittedRequest(
        method: head.method, version: head.version, framing: framing, usesNormalPath: usesNormalPath,
        expectsContinue: expectation == .continue100,
        asksForWebSocket: asksForWebSocket, persistence: Persistence.after(request: head)))
  }

  /// The route of a request, and if the normal form of its path, which `normalPath` has received, is to be forwarded.
  static func route(
    of line: RequestLine, _ head: borrowing RequestHead, _ bytes: Span<UInt8>, table: borrowing RouteTable,
    normalPath: inout ByteBuffer, found: inout Route?
  ) throws(ExchangeFailure) -> (Route, usesNormalPath: Bool) {
    let sent = bytes.extracting(line.path)
    let usesNormalPath: Bool
    switch NormalPath.normalise(
      sent, into: &normalPath, removesEncodedSlashes: table.hasOnePath, allowing: table.encodedPath)
    {
    case .alreadyNormal: usesNormalPath = false
    case .written: usesNormalPath = true
    case .refused(let error): throw .path(error)
    }
    let route =
      if usesNormalPath {
        try Self.route(of: line, head, bytes, path: normalPath.bytes, table: table, found: &found)
      } else {
        try Self.route(of: line, head, bytes, path: sent, table: table, found: &found)
      }
    if !table.encodedPath.subtracting(route.encodedPath).isEmpty {
      do throws(ExchangeFailure) {
        try Self.judge(sent, by: route)
      } catch {
        found = route
        throw error
      }
    }
    return (route, usesNormalPath)
  }

  // Refuses what other routes let through and this one does not.
  private static func judge(_ sent: Span<UInt8>, by route: Route) throws(ExchangeFailure) {
    var normalPath = ByteBuffer(capacity: 256)
    if case .refused(let error) = NormalPath.normalise(sent, into: &normalPath, allowing: route.encodedPath) {
      throw .path(error)
    }
  }

  private static func route(
    of line: RequestLine, _ head: borrowing RequestHead, _ bytes: Span<UInt8>, path: Span<UInt8>,
    table: borrowing RouteTable, found: inout Route?
  ) throws(ExchangeFailure) -> Route {
    // Only an HTTP/1.0 request can name no host; it then takes a route of any host.
    switch table.match(host: bytes.extracting(line.host), path: path, method: bytes.extracting(line.method)) {
    case .noRoute: throw .noRoute
    case .methodNotAllowed(let route):
      found = route
      throw .methodNotAllowed
    case .ambiguous(let route):
      found = route
      throw .path(.otherRoute)
    case .route(let route):
      if !route.takesOverrides(of: head, bytes) {
        found = route
        throw .methodNotAllowed
      }
      // Behind the prefix nothing may lead out of the upstream's path, however the upstream reads it.
      guard path.count <= route.path.count || NormalPath.staysBelow(path.extracting(droppingFirst: route.path.count))
      else {
        found = route
        throw .path(.hiddenDotSegment)
      }
      return route
    }
  }
}

/// A request for a token that is answered: its route and its wish.
struct HandOutAdmission {
  let route: Route
  let request: HandOutRequest

  /// Judges the request whose head `input` begins with; `callers` is nil if its caller was judged by another head.
  /// `found` receives the route also if the request is refused after that was found, and `normalPath`, which is empty,
  /// the normal form of the path that the engine describes.
  init(
    _ path: HandOutPath, _ head: borrowing RequestHead, _ input: borrowing ByteBuffer, callers: CallerCheck?,
    table: borrowing RouteTable, normalPath: inout ByteBuffer, found: inout Route?
  ) throws(ExchangeFailure) {
    let bytes = input.bytes
    let framing = try Admission.framing(head, bytes)
    if let refusal = callers?.judge(head, bytes) { throw .caller(refusal) }
    if head.method == .connect || head.method == .trace { throw .methodRefused }
    let described: Route?
    do throws(HandOutRefusal) {
      request = try HandOutRequest(head, bytes, framing)
      described = try Self.describedRoute(head, bytes, table, &normalPath, found: &found)
    } catch {
      throw .handOut(error)
    }
    switch path {
    case .ambiguous: throw .path(.hiddenDotSegment)
    case .named(let name):
      guard let named = table.route(named: bytes.extracting(head.target.path).extracting(name)) else { throw .noRoute }
      if let described, described !== named { throw .handOut(.otherRoute) }
      route = named
    case .described:
      guard let described else { throw .handOut(.description) }
      route = described
    }
    found = route
    guard route.token.isHandedOut, route.bearerSlot != nil || route.fixedValue != nil else { throw .handOut(.route) }
    if route.fixedValue == nil, request.refused?.isBearer(bytes) == false { throw .handOut(.fields) }
  }

  /// The route of the request that the engine describes, by the rules for a request of our own: engines read paths less
  /// strictly. nil if it describes none.
  private static func describedRoute(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ table: borrowing RouteTable,
    _ normalPath: inout ByteBuffer, found: inout Route?
  ) throws(HandOutRefusal) -> Route? {
    guard let line = try RequestLine(describedBy: head, bytes) else { return nil }
    do throws(ExchangeFailure) {
      return try Admission.route(of: line, head, bytes, table: table, normalPath: &normalPath, found: &found).0
    } catch {
      throw .otherRoute
    }
  }
}
