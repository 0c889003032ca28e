// The memory of an exchange, in types that live as long as their subject: the caller's connection while it is busy, a
// request, an attempt at an upstream. A loop lends them cleared and takes them back when their subject ends, so no part
// of a predecessor is ever in one, and none is allocated while requests come one after the other.

internal import Bytes
internal import HTTP
internal import HTTP2
internal import HTTPClient
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry

/// The buffers of a caller's connection while requests are read and answered on it. An idle connection has none.
///
/// They begin small, since thousands of requests may wait for their upstreams, and stay as large as one has needed.
final class CallerBuffers: Reusable {
  /// Bytes of the caller that are not consumed yet: a part of a head, content, requests behind the present one.
  var input = ByteBuffer(capacity: 2 * 1024)
  var output = ByteBuffer(capacity: 2 * 1024)

  init(_ limits: HeadLimits) {}

  var capacity: Int { input.capacity + output.capacity }

  func clear() {
    input.removeAll()
    output.removeAll()
  }
}

/// One request, from its first byte to its record.
final class RequestContext: Reusable {
  var parser = RequestHeadParser()
  var head: RequestHead
  /// The head as it was received: its ranges count from the first byte.
  private(set) var headBytes = ByteBuffer(capacity: 2 * 1024)
  /// The normal form of the path if it differs from the one sent.
  var path = ByteBuffer(capacity: 256)
  /// Request id, trace parent and trace id, one behind the other.
  var identity = ByteBuffer(capacity: 256)
  /// The content on its way out, through all attempts.
  var content = BodyPump.empty
  var trailers = TrailerParser()
  /// The content sent so far of a request that may be repeated. It grows when it is first needed.
  var replay = ByteBuffer(capacity: 1)

  /// The beginning of the wait for its head.
  var start = MonotonicTime(nanoseconds: 0)
  var record = AccessRecord()
  /// The end of the time for the exchange as a whole.
  var whole = MonotonicTime.distantFuture
  /// The route it takes, also if it is refused after that was found.
  var route: Route?
  var admitted = AdmittedRequest()
  /// True if it counts among those that look like a loop's.
  var isUnmarked = false
  var credential = RequestCredential.none
  /// The origin of the other site whose page may read the answer, within the head; empty if there is none.
  var corsOrigin = ByteRange()
  /// The address to return to after a sign-in.
  var returnTo: String?
  /// The slot of the request's token, once it was chosen.
  var slot: Int?
  /// The caller's own token, if the listener demands one and it was accepted.
  var callerToken: BelievedToken?
  /// The wish of an engine that asks for a token; nil if the request is forwarded.
  var handOut: HandOutRequest?
  /// The spans of the request; nil if it is not traced.
  var trace: ExchangeTrace?

  init(_ limits: HeadLimits) {
    head = RequestHead(fieldCapacity: limits.fieldCount)
  }

  var capacity: Int { headBytes.capacity + path.capacity + identity.capacity + replay.capacity }

  func clear() {
    dropHead()
    path.removeAll()
    identity.removeAll()
    content = .empty
    replay.removeAll()
    start = MonotonicTime(nanoseconds: 0)
    record = AccessRecord()
    whole = .distantFuture
    route = nil
    admitted = AdmittedRequest()
    isUnmarked = false
    credential = .none
    corsOrigin = ByteRange()
    returnTo = nil
    slot = nil
    callerToken = nil
    handOut = nil
    trace = nil
  }

  var hasHead: Bool { !headBytes.isEmpty }

  /// Puts another head in the place of the one that was received.
  func replaceHead(_ bytes: inout ByteBuffer, _ limits: HeadLimits) throws(RequestHeadError) {
    dropHead()
    switch bytes.withBytes({ parser.parse($0, into: &head, limits: limits) }) {
    case .complete(let byteCount): takeHead(byteCount, from: &bytes)
    case .invalid(let error): throw error
    case .needsMore: preconditionFailure("a whole head was written")
    }
  }

  func dropHead() {
    parser = RequestHeadParser()
    head.reset()
    headBytes.removeAll()
  }

  /// Takes the head that was parsed out of the caller's bytes.
  func takeHead(_ byteCount: Int, from input: inout ByteBuffer) {
    headBytes.append(input.bytes.extracting(first: byteCount))
    input.consume(byteCount)
  }
}

/// One attempt to have a request answered on one upstream connection.
final class UpstreamAttempt: Reusable {
  /// The request's head on its way out, and framing of its content.
  var output = ByteBuffer(capacity: 2 * 1024)
  var input = ByteBuffer(capacity: 2 * 1024)
  var parser = ResponseHeadParser()
  var head: ResponseHead
  var trailers = TrailerParser()
  /// Bytes in front of the final head that were to be sent to the caller: the rest of an interim answer.
  var outputBefore = 0
  /// The content of the answer on its way back.
  var answer = BodyPump.empty
  var headBytes = 0
  var status = 0
  /// True if gRPC says in the final head that the token is not good.
  var isUnauthenticated = false
  var answeredAt: MonotonicTime?
  /// The binding of the upstream's connection to the caller.
  var binding = UpstreamBinding()

  init(_ limits: HeadLimits) {
    head = ResponseHead(fieldCapacity: limits.fieldCount)
  }

  var capacity: Int { output.capacity + input.capacity }

  func clear() {
    output.removeAll()
    input.removeAll()
    parser = ResponseHeadParser()
    head.reset()
    answer = .empty
    outputBefore = 0
    headBytes = 0
    status = 0
    isUnauthenticated = false
    answeredAt = nil
    binding = UpstreamBinding()
  }
}

/// A place of one stream after the other, with a task of its own.
protocol StreamPlace: AnyObject {
  /// Ends the task of a free place.
  func retire()
}

/// The memory that a loop lends. Confined to its loop.
final class LentMemory {
  var buffers = FreeList<CallerBuffers>()
  var requests = FreeList<RequestContext>()
  var attempts = FreeList<UpstreamAttempt>()
  /// The streams of callers' connections with HTTP/2.
  let streams = SpareStreams()
  /// The free places for them.
  var places = FreeList<any StreamPlace>()

  /// Drops the objects that were unused since the last call. Returns their number.
  func sweep() -> Int {
    for place in places.sweep() { place.retire() }
    return buffers.sweep().count + requests.sweep().count + attempts.sweep().count + streams.sweep()
  }
}

/// An object that a loop lends to one subject after the other.
protocol Reusable: AnyObject {
  init(_ limits: HeadLimits)
  /// Bytes of memory in its buffers.
  var capacity: Int { get }
  /// Clears the former subject, secrets included.
  func clear()
}

/// The free objects of one kind on one loop.
struct FreeList<Element> {
  private var free: [Element] = []
  private var fewest = 0

  /// An object; nil if none is free.
  mutating func take() -> Element? {
    guard let element = free.popLast() else { return nil }
    fewest = min(fewest, free.count)
    return element
  }

  mutating func keep(_ element: consuming Element) { free.append(element) }

  /// Removes the objects that were unused since the last call.
  mutating func sweep() -> [Element] {
    let unneeded = Array(free.suffix(fewest))
    free.removeLast(unneeded.count)
    fewest = free.count
    return unneeded
  }
}

extension FreeList where Element: Reusable {
  /// Buffers that a body has grown beyond this are not kept if there are enough others.
  private static var grown: Int { 256 * 1024 }
  private static var enough: Int { 16 }

  /// An object without a trace of a former subject.
  mutating func take(_ limits: HeadLimits) -> Element { take() ?? Element(limits) }

  mutating func giveBack(_ element: consuming Element) {
    if free.count >= Self.enough, element.capacity > Self.grown { return }
    element.clear()
    keep(element)
  }
}
