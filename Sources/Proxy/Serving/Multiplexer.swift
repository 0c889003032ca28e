// The parts of a connection with HTTP/2 besides its session: the streams in progress, and the times that end it.

internal import Bytes
internal import HTTP2
internal import Platform
internal import Routing

/// The streams of one connection. Confined to its loop.
final class Multiplexer {
  let session: CallerSession
  /// The streams that are served, by their number.
  var streams: [Int32: DownstreamStream] = [:]
  var times: SessionTimes
  private let lent: LentMemory
  private var held: CallerBuffers?

  /// The connection's buffers. A pause in which there is nothing to send gives them back.
  var buffers: CallerBuffers {
    if let held { return held }
    let taken = lent.buffers.take(session.limits.head)
    held = taken
    return taken
  }

  func giveBackBuffers() {
    if let held { lent.buffers.giveBack(held) }
    held = nil
  }

  /// The time since when all streams would give up the connection's place; nil if one of them would not, or there is
  /// none.
  var makesRoomSince: MonotonicTime? {
    var since: MonotonicTime?
    for stream in streams.values {
      guard let began = stream.makesRoomSince else { return nil }
      since = since.map { max($0, began) } ?? began
    }
    return since
  }

  private var wasAbandoned = false

  /// Ends all exchanges in progress, once.
  func abandon() {
    if wasAbandoned { return }
    wasAbandoned = true
    for stream in streams.values { stream.abandon() }
  }

  /// A session that begins with what is in `buffers`.
  init(_ session: CallerSession, _ lent: LentMemory, _ buffers: CallerBuffers, at now: MonotonicTime) {
    self.session = session
    self.lent = lent
    held = buffers
    times = SessionTimes(at: now)
  }
}

/// Decides when a session takes leave, and when it is lost.
struct SessionTimes {
  enum Leave: Equatable {
    case none
    /// The first GOAWAY has told that the connection ends; streams on their way are served.
    case announced(since: MonotonicTime)
    /// The second has told the last stream that is served.
    case final
  }

  /// The end of the last stream, or the beginning of the connection; nil while there are streams.
  private(set) var idleSince: MonotonicTime?
  /// The beginning of a header block whose end has not arrived.
  private(set) var headSince: MonotonicTime?
  /// The time when the socket took bytes that it had not taken before; nil if none wait.
  private(set) var blockedSince: MonotonicTime?
  private(set) var leave = Leave.none
  /// Since when nothing is to be done but to end, which a caller may await that has not ended its requests.
  private var servedSince: MonotonicTime?
  /// True if no request has begun yet.
  private(set) var isNew = true

  init(at now: MonotonicTime) { idleSince = now }

  /// Records the state before a wait.
  mutating func note(isUnused: Bool, isInHead: Bool, hasOutput: Bool, at now: MonotonicTime) {
    if isUnused { idleSince = idleSince ?? now } else { (idleSince, isNew) = (nil, false) }
    headSince = isInHead ? headSince ?? now : nil
    blockedSince = hasOutput ? blockedSince ?? now : nil
  }

  /// Records that the socket took bytes.
  mutating func moved() { blockedSince = nil }

  /// True if the peer has let a limit pass: the rest of a head, or bytes that it does not read.
  func isStalled(_ limits: ServiceLimits, at now: MonotonicTime) -> Bool {
    if let headSince, now >= headSince + limits.requestHead { return true }
    if let blockedSince, now >= blockedSince + limits.idle { return true }
    return false
  }

  /// The step of leaving that is due. `isEnding`: no more requests are wanted. `isAnswered`: what was on its way at the
  /// announcement has arrived.
  mutating func leaves(
    isEnding: Bool, mustEnd: Bool, isAnswered: Bool, _ limits: ServiceLimits, at now: MonotonicTime
  ) -> Leave? {
    switch leave {
    case .none:
      // The first request may be on its way, and its caller would give up when it is told of the end.
      let patience = isEnding ? (isNew && !mustEnd ? limits.grace : .zero) : limits.idle
      guard idleSince.map({ now >= $0 + patience }) ?? isEnding else { return nil }
      leave = mustEnd ? .final : .announced(since: now)
    case .announced(let since):
      guard mustEnd || isAnswered || now >= since + limits.grace else { return nil }
      leave = .final
    case .final: return nil
    }
    return leave
  }

  /// True if a session that has taken leave ends. `isServed`: the socket has taken the last response. `isAwaited`: the
  /// peer has not ended every request. Some callers forget a whole response if the connection ends before they have,
  /// hence the grace.
  mutating func ends(isServed: Bool, isAwaited: Bool, _ limits: ServiceLimits, at now: MonotonicTime) -> Bool {
    guard leave == .final, isServed else {
      servedSince = nil
      return false
    }
    let since = servedSince ?? now
    servedSince = since
    return !isAwaited || now >= since + limits.grace
  }

  /// The end of the present wait.
  func deadline(_ limits: ServiceLimits, isEnding: Bool) -> MonotonicTime {
    var deadline = MonotonicTime.distantFuture
    if let headSince { deadline = min(deadline, headSince + limits.requestHead) }
    if let blockedSince { deadline = min(deadline, blockedSince + limits.idle) }
    if let servedSince { deadline = min(deadline, servedSince + limits.grace) }
    switch leave {
    case .none: if let idleSince { deadline = min(deadline, idleSince + (isEnding ? limits.grace : limits.idle)) }
    case .announced(let since): deadline = min(deadline, since + limits.grace)
    case .final: break
    }
    return deadline
  }
}
