// The numbering of what routes share: origins, so that routes to one server share connections, and bearer slots, so
// that routes with one right share tokens.

package import HTTP
package import HTTPClient
package import Identity
package import Routing
internal import Tokens

/// The routes of a configuration with their origins and bearer slots, which a route names by index.
package struct RoutePlan: Sendable {
  package private(set) var routes: [Route] = []
  /// The upstream servers, by `Route.originIndex`.
  private(set) var origins: [SharedOrigin] = []
  /// The subscription of each bearer slot, by `Route.bearerSlot`.
  package private(set) var subscriptions: [TokenSubscription] = []
  private(set) var slots: [AcquisitionKey: Int] = [:]
  /// The programs of each listener that has some, by the listener's position.
  package private(set) var programs: [Int: ProgramTable] = [:]
  private var originIndices: [SharedOrigin: Int] = [:]

  package init() {}

  package mutating func add(_ route: Route) {
    routes.append(route)
  }

  /// Gives tokens to programs at a listener.
  package mutating func add(_ programs: [Program], at listener: Int) {
    self.programs[listener] = ProgramTable(programs)
  }

  /// The index of an upstream server; that of a former route if connections may be shared.
  package mutating func index(of origin: Origin, limits: PoolLimits) -> Int {
    let origin = SharedOrigin(origin: origin, limits: limits)
    if let known = originIndices[origin] { return known }
    origins.append(origin)
    originIndices[origin] = origins.count - 1
    return origins.count - 1
  }

  /// The slot of a subscription; that of a former route if the key is equal.
  package mutating func slot(of subscription: TokenSubscription) -> Int {
    if let known = slots[subscription.key] { return known }
    subscriptions.append(subscription)
    slots[subscription.key] = subscriptions.count - 1
    return subscriptions.count - 1
  }
}

/// An upstream server and the rules for its connections. Equal ones share connections: address, trust and bounds are
/// the same. TLS contexts are equal if their files are.
struct SharedOrigin: Sendable, Hashable {
  let origin: Origin
  let limits: PoolLimits

  static func == (left: SharedOrigin, right: SharedOrigin) -> Bool {
    left.origin.scheme == right.origin.scheme && left.origin.host == right.origin.host
      && left.origin.port == right.origin.port && left.origin.serverName == right.origin.serverName
      && left.origin.tls === right.origin.tls && left.origin.proxy == right.origin.proxy
      && left.origin.versions == right.origin.versions && left.limits == right.limits
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(origin.host)
    hasher.combine(origin.port)
  }
}
