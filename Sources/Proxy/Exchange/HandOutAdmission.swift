internal import Bytes
internal import HTTP
internal import Routing

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
    let framing: BodyFraming
    do throws(FramingError) {
      framing = try BodyFraming.request(head, bytes)
    } catch {
      throw .framing(error)
    }
    if let refusal = callers?.judge(head, bytes) { throw .caller(refusal) }
    if head.method == .connect || head.method == .trace { throw .methodRefused }
    do throws(HandOutRefusal) {
      request = try HandOutRequest(head, bytes, framing)
    } catch {
      throw .handOut(error)
    }
    let described: Route?
    do throws(HandOutRefusal) {
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
