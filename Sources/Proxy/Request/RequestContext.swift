// What an exchange holds, each part in a type that lives as long as its subject: the caller's connection while it is
// busy, a request, an attempt at an upstream. A loop hands them out cleared and takes them back when their subject
// ends, so no part of a predecessor is ever in one, and none is allocated while requests come one after the other.
//
// `@exclusivity(unchecked)`: one task uses each of them at a time, and the compiler has checked each function; the
// run-time check of every access would be a tenth of the user time of a request.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Identity
internal import Platform
internal import Telemetry

/// The buffers of a caller's connection while requests are read and answered on it. An idle connection has none.
///
/// They begin small, since thousands of requests may wait for their upstreams, and stay as large as one has needed.
final class CallerBuffers: Reusable {
  /// What the caller sent and nothing has taken yet: a part of a head, content, requests behind the present one.
  @exclusivity(unchecked) var input = ByteBuffer(capacity: 2 * 1024)
  /// What is to be sent to the caller.
  @exclusivity(unchecked) var output = ByteBuffer(capacity: 2 * 1024)

  init(_ limits: HeadLimits) {}

  var capacity: Int { input.capacity + output.capacity }

  func clear() {
    input.removeAll()
    output.removeAll()
  }
}

/// One request, from its first byte to its record.
final class RequestContext: Reusable {
  @exclusivity(unchecked) var parser = RequestHeadParser()
  @exclusivity(unchecked) var head: RequestHead
  /// The head as it was received: its ranges count from the first byte.
  @exclusivity(unchecked) private(set) var headBytes = ByteBuffer(capacity: 2 * 1024)
  /// The normal form of the path where it differs from the one sent.
  @exclusivity(unchecked) var path = ByteBuffer(capacity: 256)
  /// Request id, trace parent and trace id, one behind the other.
  @exclusivity(unchecked) var identity = ByteBuffer(capacity: 256)
  /// The content on its way out, through all attempts.
  @exclusivity(unchecked) var content = BodyPump.empty
  @exclusivity(unchecked) var trailers = TrailerParser()
  /// The content sent so far of a request that may be sent once more. It grows when it is first needed.
  @exclusivity(unchecked) var replay = ByteBuffer(capacity: 1)

  /// When its head was first waited for.
  @exclusivity(unchecked) var start = MonotonicTime(nanoseconds: 0)
  @exclusivity(unchecked) var record = AccessRecord()
  /// The end of the time for the exchange as a whole.
  @exclusivity(unchecked) var whole = MonotonicTime.distantFuture
  /// The route it takes, also where it is refused after that was found.
  @exclusivity(unchecked) var route: Route?
  /// What was admitted, of a request that is forwarded.
  @exclusivity(unchecked) var admitted = AdmittedRequest()
  /// Whether it counts among those that nothing tells from a loop's.
  @exclusivity(unchecked) var isUnmarked = false
  /// What it carries to its upstream.
  @exclusivity(unchecked) var credential = RequestCredential.none
  /// The origin of the other site whose page may read the answer, within the head; empty where there is none.
  @exclusivity(unchecked) var corsOrigin = ByteRange()
  /// Where a person was going, to come back to after a sign-in.
  @exclusivity(unchecked) var returnTo: String?
  /// The slot of the token that the request gets, once that was chosen.
  @exclusivity(unchecked) var slot: Int?
  /// The caller's own token, where the listener demands one and it was believed.
  @exclusivity(unchecked) var callerToken: BelievedToken?
  /// What the provider has against that token, when it was to be exchanged for another one than the upstream refused.
  @exclusivity(unchecked) var callerRefusal: AcquisitionError?
  /// The spans of the request; nil where it is not traced.
  @exclusivity(unchecked) var trace: ExchangeTrace?

  init(_ limits: HeadLimits) {
    head = RequestHead(fieldCapacity: limits.fieldCount)
  }

  var capacity: Int { headBytes.capacity + path.capacity + identity.capacity + replay.capacity }

  func clear() {
    parser = RequestHeadParser()
    head.reset()
    headBytes.removeAll()
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
    callerRefusal = nil
    trace = nil
  }

  /// Whether there is a head that was understood.
  var hasHead: Bool { !headBytes.isEmpty }

  /// Takes the head that was parsed out of what the caller sent.
  func takeHead(_ byteCount: Int, from input: inout ByteBuffer) {
    headBytes.append(input.bytes.extracting(first: byteCount))
    input.consume(byteCount)
  }
}

/// One attempt to have a request answered on one upstream connection.
final class UpstreamAttempt: Reusable {
  /// The request's head on its way out, and framing of its content.
  @exclusivity(unchecked) var output = ByteBuffer(capacity: 2 * 1024)
  /// What the upstream sent and nothing has taken yet.
  @exclusivity(unchecked) var input = ByteBuffer(capacity: 2 * 1024)
  @exclusivity(unchecked) var parser = ResponseHeadParser()
  @exclusivity(unchecked) var head: ResponseHead
  @exclusivity(unchecked) var trailers = TrailerParser()
  /// Bytes in front of the final head that were to be sent to the caller: the rest of an interim answer.
  @exclusivity(unchecked) var outputBefore = 0
  /// The content of the answer on its way back.
  @exclusivity(unchecked) var answer = BodyPump.empty
  /// The bytes of the final head, as long as it stands at the front of the input.
  @exclusivity(unchecked) var headBytes = 0
  /// The status of the final head; 0 before.
  @exclusivity(unchecked) var status = 0
  /// When the final head had arrived.
  @exclusivity(unchecked) var answeredAt: MonotonicTime?
  /// Whether the upstream's connection may be authenticated now.
  @exclusivity(unchecked) var binding = UpstreamBinding()

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
    answeredAt = nil
    binding = UpstreamBinding()
  }
}

/// What a loop lends to one subject after the other.
protocol Reusable: AnyObject {
  init(_ limits: HeadLimits)
  /// Bytes of memory in its buffers.
  var capacity: Int { get }
  /// Forgets the former subject, secrets included.
  func clear()
}

/// The free objects of one kind on one loop.
struct FreeList<Element: Reusable> {
  private var free: [Element] = []
  private var fewest = 0

  /// Buffers that a body has grown beyond this are not kept where there are enough others.
  private static var grown: Int { 256 * 1024 }
  private static var enough: Int { 16 }

  /// One without a trace of a former subject.
  mutating func take(_ limits: HeadLimits) -> Element {
    guard let element = free.popLast() else { return Element(limits) }
    fewest = min(fewest, free.count)
    return element
  }

  mutating func giveBack(_ element: consuming Element) {
    if free.count >= Self.enough, element.capacity > Self.grown { return }
    element.clear()
    free.append(element)
  }

  /// Drops what was not needed since the last call. How many.
  mutating func sweep() -> Int {
    let unneeded = min(fewest, free.count)
    free.removeLast(unneeded)
    fewest = free.count
    return unneeded
  }
}
