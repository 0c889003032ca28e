// A listener of a server: the sockets, which stay through reloads, and the rules for its callers, which may change with
// each.

package import Bytes
internal import HTTP
package import Identity
package import Platform
package import Routing
internal import Synchronization

/// The sockets of a listener, for as long as it is listened at. Reloads know it by its identity.
package final class ListenerPlace: Sendable {
  let sockets: [BoundSocket]
  private let isQueueing = Atomic(true)
  private let isClosed = Atomic(false)
  private let acceptors = Atomic(0)

  package init(_ sockets: [BoundSocket]) {
    self.sockets = sockets
  }

  /// The socket of a loop. A TCP listener has one for each; a unix socket, and one that was inherited, is one for all.
  func socket(of loop: Int) -> BoundSocket {
    sockets.count > 1 ? sockets[loop] : sockets[0]
  }

  /// The number of loops that accept here.
  var acceptorCount: Int { acceptors.load(ordering: .relaxed) }

  func acceptorBegan() { acceptors.add(1, ordering: .relaxed) }
  func acceptorEnded() { acceptors.subtract(1, ordering: .relaxed) }

  /// Makes the kernel refuse further connections; once: by the second time the file of a unix socket may be a
  /// successor's.
  func stopQueueing() {
    if !isQueueing.exchange(false, ordering: .relaxed) { return }
    for socket in sockets { socket.stopQueueing() }
  }

  /// Once: the numbers of the descriptors may be another file's afterwards.
  func close() {
    if isClosed.exchange(true, ordering: .relaxed) { return }
    stopQueueing()
    for socket in sockets { socket.close() }
  }
}

/// The common part of one listener's connections.
package struct ListenerContext: Sendable {
  var callers: CallerCheck
  /// Judges the token that the rules demand; nil if they demand none.
  var tokenCheck: CallerTokenCheck?
  var tls: TLSContext?
  /// Changes whenever the authorities of callers' certificates do.
  var callerTrust: [UInt8]?
  /// The sign-in pages below `/.bearer/`, which the routes no longer see then; nil if there are none.
  package var signIn: SignInHandler?
  /// True if the tokens of routes are handed out to engines, at `/.bearer/authorize`.
  package var handsOut = false
  /// True if callers may use HTTP/2.
  package var speaksHTTP2 = true
  /// The programs that get tokens here for connections of their own; nil if the listener is for routes.
  package var programs: ProgramTable?

  /// True if the listener describes itself to callers' clients (RFC 9728).
  var describesItself: Bool { callers.rules.bearer?.publicURL != nil }

  /// True if paths below `/.bearer`, or all, are the listener's own.
  var reservesPaths: Bool { signIn != nil || handsOut || programs != nil }

  /// True if a connection that was admitted under these rules has shown enough for others.
  func suffices(for other: ListenerContext) -> Bool {
    (tls == nil) == (other.tls == nil) && (other.callerTrust == nil || other.callerTrust == callerTrust)
  }
}

/// A bound listener and the rules for its callers.
package struct ProxyListener: Sendable {
  package let place: ListenerPlace
  package var context: ListenerContext

  /// A listener. `names`: hosts accepted in `Host`, lower case, without port; `nil`: any. `callerTrust` changes
  /// whenever the authorities of callers' certificates do.
  package init(
    _ place: ListenerPlace, names: [String]?, rules: CallerRules = CallerRules(), tokenCheck: CallerTokenCheck? = nil,
    tls: TLSContext?, callerTrust: [UInt8]? = nil
  ) {
    self.place = place
    // No browser connects to a unix socket.
    var isUnix = false
    if case .unix? = place.sockets.first?.address.kind { isUnix = true }
    context = ListenerContext(
      callers: CallerCheck(names: names, rules: rules, isReachedInClear: tls == nil && !isUnix),
      tokenCheck: tokenCheck, tls: tls, callerTrust: callerTrust)
  }

  package var address: SocketAddress? { place.sockets.first?.address }

  /// Stops listening, except for the loops that have taken a socket and close theirs themselves. The file of a unix
  /// socket goes with it: later, it may be a successor's.
  package func close() {
    place.close()
  }
}
