// The caller of a request, as its exchange sees it. Only this folder and Serving know what carries the request.

internal import HTTP
internal import Platform
internal import Routing

/// The caller of a request: a connection of HTTP/1.1, which carries one request after the other, or a stream of an
/// HTTP/2 connection. Confined to its loop.
class Caller {
  /// The source of the request's content, and the sink for the response.
  final let stream: ByteStream
  /// The place of every wait of the exchange.
  final let waiter: Waiter
  /// The upstream connections that this caller has authenticated.
  final var boundUpstreams = BoundUpstreams()
  /// True if both sides have switched to another protocol.
  final private(set) var isTunnel = false

  init(_ stream: ByteStream, _ waiter: Waiter) {
    self.stream = stream
    self.waiter = waiter
  }

  /// True if the caller can neither send nor receive any more.
  final var hasLeft: Bool { stream.channel.isHungUp }

  /// Makes the next wait end if the caller sends, takes more, or leaves.
  final func watch(_ interest: CallerInterest) {
    var readiness: Readiness = []
    if interest.contains(.content) { readiness.formUnion(stream.receiveInterest) }
    if interest.contains(.room) { readiness.formUnion(stream.sendInterest) }
    if interest.contains(.end) { readiness.insert(.readClosed) }
    if interest.contains(.leaving) { readiness.insert(.hangUp) }
    waiter.watch(stream.channel, readiness)
  }

  // MARK: Differences of connections and streams

  /// Records that both sides have switched to another protocol.
  func becomesTunnel() { isTunnel = true }
  /// True if the present request is the last that is answered here.
  var isEnding: Bool { preconditionFailure(Self.kinds) }
  /// True if the connection takes no further requests, so that nothing is waited for that may take long.
  var isLeaving: Bool { isEnding }
  /// Records that the request is an engine's stream, which goes on for as long as the engine likes, and which that may
  /// reset at any time.
  func awaitsEngine() {}
  /// True if another caller needs this one's place: the request is answered only if it waits for nothing more.
  var mustEnd: Bool { preconditionFailure(Self.kinds) }
  /// True if the process ends the exchange in progress.
  var isCutOff: Bool { preconditionFailure(Self.kinds) }
  /// True if the caller gives up its place if connections run out.
  var makesRoom: Bool {
    get { preconditionFailure(Self.kinds) }
    set { preconditionFailure(Self.kinds) }
  }
  /// Breaks the exchange off, so that the caller repeats the request with HTTP/1.1.
  func demandHTTP11() { preconditionFailure("only a stream can do that") }
  /// The socket of the caller.
  var connectionChannel: Channel { stream.channel }
  /// Releases the descriptor of another caller, or of an idle connection. False: none can be spared now.
  func giveUpDescriptor() async -> Bool { preconditionFailure(Self.kinds) }

  private static let kinds = "a caller is a connection or a stream"
}

/// The events at a caller that end a wait.
struct CallerInterest: OptionSet {
  let rawValue: UInt8

  /// Content of the request.
  static let content = CallerInterest(rawValue: 1)
  /// Room for more of the response.
  static let room = CallerInterest(rawValue: 2)
  /// The end of the caller's direction.
  static let end = CallerInterest(rawValue: 4)
  /// The end of both directions.
  static let leaving = CallerInterest(rawValue: 8)
}

/// The facts by which a caller's requests are judged, in one generation. A class, so that a request takes one reference
/// to it instead of one to each of its parts.
final class CallerFacts {
  let state: LoopState
  let listener: ListenerContext
  let ingress: Ingress
  /// The reason why all requests are refused.
  let refusal: CallerRefusal?
  /// The SHA-256 of the caller's certificate, if its tokens may be bound to it; empty otherwise.
  let certificateDigest: [UInt8]

  /// Judges a caller by its connection. Its certificate is known after the handshake only.
  init(_ state: LoopState, _ listener: ListenerContext, peer: [UInt8], _ stream: ByteStream) {
    self.state = state
    self.listener = listener
    let rules = listener.callers.rules
    ingress = Ingress(peer: peer, isTLS: stream.tls != nil, rules: rules)
    refusal = rules.judge(
      peer: PeerCredentials(of: stream.channel), certificateNames: stream.tls?.peerNames ?? [])
    certificateDigest = rules.bearer == nil ? [] : stream.tls?.peerCertificateDigest ?? []
  }
}

/// The way by which a request came. A class, so that a request takes one reference to it instead of one to each of its
/// parts.
final class Ingress {
  /// The caller's address in `X-Forwarded-For`; empty for a unix socket.
  let peer: [UInt8]
  /// True if the caller uses TLS.
  let isTLS: Bool
  let rules: CallerRules
  /// The caller in the form of the forwarding fields.
  let forwardedPeer: ForwardedPeer

  init(peer: [UInt8], isTLS: Bool, rules: CallerRules = CallerRules()) {
    self.peer = peer
    self.isTLS = isTLS
    self.rules = rules
    forwardedPeer = ForwardedPeer(address: peer, scheme: isTLS ? .https : .http)
  }
}

extension CallerRules {
  /// Judges a connection before any request.
  func judge(peer: PeerCredentials?, certificateNames: [String]) -> CallerRefusal? {
    judge(peer: peer.map { (user: $0.user, group: $0.group) }, certificateNames: certificateNames)
  }
}
