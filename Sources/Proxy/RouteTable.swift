internal import HTTP

enum RouteMatch: Sendable {
  case route(Route)
  /// No route has its host and path: 404.
  case noRoute
  /// Routes have its host and path, none its method: 405 with this route's name and these methods.
  case methodNotAllowed(Route)
  /// A route has its host and path, but some readers take the path for that of a more specific one: 400.
  case ambiguous(Route)
}

/// The routes in the order in which they are tried: those of the request's own host before those of any host, longer
/// paths before shorter ones. Among the routes of one host and path, the method decides.
package struct RouteTable: Sendable {
  private let ordered: [Route]
  /// For each route those that are tried before it and begin with its path, with the segments of their paths. Only a
  /// request for one of these can be spelt so that the shorter path takes it.
  private let within: [[(route: Route, segments: [[UInt8]])]]
  /// True if all routes have the same path, so that it cannot distinguish them.
  let hasOnePath: Bool
  /// Characters that paths of any route may hold percent-encoded.
  let encodedPath: EncodedPath

  package init(_ routes: [Route]) {
    ordered = routes.sorted { left, right in
      let (leftRank, rightRank) = (left.host == nil ? 1 : 0, right.host == nil ? 1 : 0)
      return (leftRank, -left.path.count, left.index) < (rightRank, -right.path.count, right.index)
    }
    let listed = ordered.map { route in
      let path = route.path
      return (route: route, segments: PathReadings.all(of: path.span)[0])
    }
    encodedPath = routes.reduce(into: []) { $0.formUnion($1.encodedPath) }
    hasOnePath = Set(routes.map(\.path)).count < 2
    within = listed.enumerated().map { position, outer in
      listed[..<position].filter { inner in
        inner.segments.count > outer.segments.count && inner.segments.starts(with: outer.segments)
          && (outer.route.host == nil || inner.route.host == outer.route.host)
      }
    }
  }

  /// The route of a request for `host` (without port; empty if the request names none) and a normal `path`.
  func match(host: Span<UInt8>, path: Span<UInt8>, method: Span<UInt8>) -> RouteMatch {
    var refused: Route?
    for position in ordered.indices {
      let route = ordered[position]
      // A longer path has refused the method: a shorter one, or one of any host, is another API and must not get the
      // request instead. Routes of one path need not be neighbours: those of other hosts may be among them.
      if let refused, refused.path.count != route.path.count || (refused.host == nil) != (route.host == nil) { break }
      guard route.takes(path: path) else { continue }
      if let name = route.host, !name.span.equalsIgnoringCase(host) { continue }
      if route.takes(method: method) {
        return within[position].isEmpty || !isAmbiguous(path, host, within[position])
          ? .route(route) : .ambiguous(route)
      }
      refused = refused ?? route
    }
    return refused.map { .methodNotAllowed($0) } ?? .noRoute
  }

  /// The route of exactly this path, with or without the slash at its end, for callers who use a name of the listener.
  func route(at path: Span<UInt8>, host: Span<UInt8>) -> Route? {
    for route in ordered where path.count <= route.path.count && route.takes(path: path) {
      if let name = route.host, !name.span.equalsIgnoringCase(host) { continue }
      return route
    }
    return nil
  }

  func route(named name: Span<UInt8>) -> Route? {
    for route in ordered where route.isNamed(name) { return route }
    return nil
  }

  /// True if a reader that decodes more than we do, merges slashes or cuts parameters off takes the path for one of
  /// another route's.
  private func isAmbiguous(
    _ path: Span<UInt8>, _ host: Span<UInt8>, _ others: [(route: Route, segments: [[UInt8]])]
  ) -> Bool {
    if PathReadings.agree(on: path) { return false }
    let readings = PathReadings.all(of: path)
    return others.contains { other in
      if let name = other.route.host, !name.span.equalsIgnoringCase(host) { return false }
      return readings.contains { $0.starts(with: other.segments) }
    }
  }
}
