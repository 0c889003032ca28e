// Owns what one loop's requests share: connection pools, bearer values, free scratch, the clock as text, counters. It is
// touched by that loop alone, so nothing in it is locked.

internal import HTTP
internal import HTTPClient
internal import Identity
internal import Network
internal import Telemetry
internal import Tokens

/// One loop's part of a proxy. Confined to its loop.
final class LoopState {
  let loop: EventLoop
  let service: Service
  /// The token of each slot, as last published.
  @exclusivity(unchecked) var bearers: [BearerValue?]
  let pools: [OriginPool]
  let metrics: MetricsWriter
  @exclusivity(unchecked) var accessRecords: AccessRecordWriter
  @exclusivity(unchecked) var random: UInt64
  @exclusivity(unchecked) private(set) var isDraining = false
  @exclusivity(unchecked) private var freeScratch: [Scratch] = []
  @exclusivity(unchecked) private var fewestFree = 0
  private var connections: [ObjectIdentifier: DownstreamConnection] = [:]
  @exclusivity(unchecked) private var clock = (
    monotonic: MonotonicTime(nanoseconds: 0), wall: WallClock.Instant(seconds: 0, nanoseconds: 0)
  )
  /// Callers' tokens that were believed, by their digests, and until when.
  @exclusivity(unchecked) var believedTokens: [[UInt8]: UnixTime] = [:]
  /// The value of `Date`, as of the last `refreshDate`.
  @exclusivity(unchecked) private(set) var dateText = ByteBuffer(capacity: HTTPDate.byteCount)
  @exclusivity(unchecked) private var dateSecond: Int64 = -1
  @exclusivity(unchecked) private var lastFlush = MonotonicTime(nanoseconds: 0)

  private static let recordBatch = 8 * 1024
  private static let recordDelay = TimeSpan.milliseconds(100)

  init(_ service: Service, loop: EventLoop) {
    self.service = service
    self.loop = loop
    bearers = Array(repeating: nil, count: service.subscriptions.count)
    pools = service.origins.map { entry in
      OriginPool(entry.origin, limits: entry.limits, resolver: service.resolver, loop: loop)
    }
    metrics = service.registry.writer(loop.index)
    accessRecords = AccessRecordWriter(format: service.accessFormat, routes: service.routes.map(\.name))
    var generator = SystemRandomNumberGenerator()
    random = generator.next()
  }

  // MARK: Scratch

  func takeScratch() -> Scratch {
    guard let scratch = freeScratch.popLast() else { return Scratch(fieldCount: service.limits.head.fieldCount) }
    fewestFree = min(fewestFree, freeScratch.count)
    return scratch
  }

  func giveBack(_ scratch: Scratch) {
    if scratch.isGrown, freeScratch.count >= 16 { return }
    scratch.reset()
    freeScratch.append(scratch)
  }

  // MARK: Clock and identity

  /// The wall clock, at most a tenth of a second old.
  func wallClock() -> WallClock.Instant {
    if loop.now - clock.monotonic > .milliseconds(100) { clock = (loop.now, WallClock.now) }
    return clock.wall.advanced(by: loop.now - clock.monotonic)
  }

  /// Brings `dateText` to what `Date` says in a message sent now.
  func refreshDate() {
    let second = wallClock().seconds
    guard second != dateSecond else { return }
    dateSecond = second
    dateText.removeAll()
    HTTPDate.write(second, into: &dateText)
  }

  /// Numbers to tell requests apart, not to keep secrets: SplitMix64 from a random seed.
  func nextRandom() -> UInt64 {
    random &+= 0x9E37_79B9_7F4A_7C15
    var value = random
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  // MARK: Connections

  func opened(_ connection: DownstreamConnection) {
    connections[ObjectIdentifier(connection)] = connection
    metrics.add(service.metrics.connectionsAccepted)
    metrics.add(service.metrics.connectionsOpen, 1)
  }

  func closed(_ connection: DownstreamConnection) {
    connections[ObjectIdentifier(connection)] = nil
    metrics.add(service.metrics.connectionsOpen, -1)
  }

  /// From now on responses close their connections; those that wait for a request are closed.
  func drain() {
    isDraining = true
    for connection in connections.values { connection.drain() }
    for pool in pools { pool.closeIdle() }
  }

  /// Closes every connection as it stands.
  func abandon() {
    for connection in connections.values { connection.abandon() }
  }

  // MARK: Housekeeping

  /// Drops what has not been needed for a while. Call every few seconds.
  func sweep() {
    for pool in pools { pool.sweep() }
    let unneeded = min(fewestFree, freeScratch.count)
    freeScratch.removeLast(unneeded)
    if unneeded >= 16 { Machine.trimHeap() }
    fewestFree = freeScratch.count
    flushAccessRecords()
  }

  /// Records a request; the line leaves with the next batch.
  func record(
    _ access: AccessRecord, method: Span<UInt8>, host: Span<UInt8>, path: Span<UInt8>, caller: Span<UInt8>,
    requestID: Span<UInt8>, traceID: Span<UInt8>
  ) {
    guard service.accessLog != nil else { return }
    let now = wallClock()
    accessRecords.append(
      access, at: LogInstant(seconds: now.seconds, nanoseconds: now.nanoseconds), method: method, host: host,
      path: path, caller: caller, requestID: requestID, traceID: traceID)
    if accessRecords.count >= Self.recordBatch || loop.now - lastFlush > Self.recordDelay { flushAccessRecords() }
  }

  /// Hands the access records to the writer.
  func flushAccessRecords() {
    guard let accessLog = service.accessLog, accessRecords.count > 0 else { return }
    lastFlush = loop.now
    accessRecords.drain { accessLog.write($0) }
  }
}
