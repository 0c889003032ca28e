// Owns which route a request takes.

internal import HTTP

/// What the route table says of a request.
enum RouteMatch: Sendable {
  /// This route takes it.
  case route(Route)
  /// No route has its host and path: 404.
  case noRoute
  /// Routes have its host and path, none its method: 405 with this route's name and these methods.
  case methodNotAllowed(Route)
}

/// The routes in the order in which they are tried: those of the request's own host before those of any host, longer
/// paths before shorter ones. Among the routes of one host and path, the method decides.
public struct RouteTable: Sendable {
  private let ordered: [Route]

  /// A table of `routes`, in any order.
  public init(_ routes: [Route]) {
    ordered = routes.sorted { left, right in
      let (leftRank, rightRank) = (left.host == nil ? 1 : 0, right.host == nil ? 1 : 0)
      return (leftRank, -left.path.count, left.index) < (rightRank, -right.path.count, right.index)
    }
  }

  /// The route of a request for `host` (without port; empty where the request names none) and a normal `path`.
  func match(host: Span<UInt8>, path: Span<UInt8>, method: Span<UInt8>) -> RouteMatch {
    var refused: Route?
    for route in ordered {
      // A longer path has refused the method: a shorter one, or one of any host, is another API and must not get the
      // request instead. Routes of one path need not stand together: those of other hosts may be among them.
      if let refused, refused.path.count != route.path.count || (refused.host == nil) != (route.host == nil) { break }
      guard route.takes(path: path) else { continue }
      if let name = route.host, !name.span.equalsIgnoringCase(host) { continue }
      if route.takes(method: method) { return .route(route) }
      refused = refused ?? route
    }
    return refused.map { .methodNotAllowed($0) } ?? .noRoute
  }
}
