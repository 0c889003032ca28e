// The caller of a request, as its exchange sees it. A connection of HTTP/1.1 carries one request after the other, a
// stream of HTTP/2 one request; only this folder and Serving know that.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Platform
internal import Routing

/// The caller of one request. A value of three references: to make one allocates nothing.
struct Caller {
  /// The facts at the request's start, which count to its end.
  let facts: CallerFacts
  let buffers: CallerBuffers
  private let carrier: RequestCarrier

  init(_ facts: CallerFacts, _ buffers: CallerBuffers, on carrier: RequestCarrier) {
    self.facts = facts
    self.buffers = buffers
    self.carrier = carrier
  }

  // MARK: Bytes

  /// The source of the request's content.
  var source: ByteStream { carrier.stream }
  /// The sink for the response.
  var sink: ByteStream { carrier.stream }
  /// True if the caller can neither send nor receive any more.
  var hasLeft: Bool { carrier.stream.channel.isHungUp }

  /// Ends our direction: the response is complete.
  func end() { carrier.stream.closeWrite() }

  /// Breaks the exchange off, so that the caller does not take a part of the response for the whole.
  func reset() { carrier.stream.reset() }

  /// Breaks the exchange off, so that the caller repeats the request with HTTP/1.1.
  func demandHTTP11() { carrier.demandHTTP11() }

  // MARK: Waiting

  /// The place of every wait of the exchange.
  var waiter: Waiter { carrier.waiter }

  /// Makes the next wait end if the caller sends, takes more, or leaves.
  func watch(_ interest: CallerInterest) {
    let stream = carrier.stream
    var readiness: Readiness = []
    if interest.contains(.content) { readiness.formUnion(stream.receiveInterest) }
    if interest.contains(.room) { readiness.formUnion(stream.sendInterest) }
    if interest.contains(.end) { readiness.insert(.readClosed) }
    if interest.contains(.leaving) { readiness.insert(.hangUp) }
    carrier.waiter.watch(stream.channel, readiness)
  }

  // MARK: Place

  /// True if this request is the last that is answered here.
  var isLast: Bool { carrier.isEnding }
  /// True if the connection takes no further requests.
  var isLeaving: Bool { carrier.isLeaving }
  /// Records that the request is an engine's stream, which that may reset at any time.
  func awaitsEngine() { carrier.awaitsEngine() }
  /// True if another caller needs this one's place: the request is answered only if it waits for nothing more.
  var mustEnd: Bool { carrier.mustEnd }
  /// True if the process ends the exchange.
  var isCutOff: Bool { carrier.isCutOff }
  /// True if the caller gives up its place if room is needed.
  var makesRoom: Bool {
    get { carrier.makesRoom }
    nonmutating set { carrier.makesRoom = newValue }
  }

  /// Records that both sides have switched to another protocol.
  func becomesTunnel() { carrier.becomesTunnel() }

  /// Releases the descriptor of another caller, or of an idle connection. False: none can be spared now.
  func giveUpDescriptor() async -> Bool { await carrier.giveUpDescriptor() }

  // MARK: Its own upstream connections

  /// The open connection to a pool's origin that this caller has authenticated.
  func takeUpstream(of pool: OriginPool) -> UpstreamConnection? { carrier.boundUpstreams.take(of: pool) }

  /// Keeps a connection for this caller alone.
  func keep(_ upstream: UpstreamConnection, of pool: OriginPool) { carrier.boundUpstreams.keep(upstream, of: pool) }

  /// The user whose process calls; nil if it is on another machine, or not known.
  func user() async -> UInt32? { await LocalPeer(of: carrier.connectionChannel).user() }
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
