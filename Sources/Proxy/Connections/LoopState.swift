// One loop's part of one generation of the configuration: connection pools, bearer values, counters, access records.
// Only that loop touches it, so nothing in it is locked. The ProxyLoop outlives a reload.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry
internal import Tokens

/// One loop's part of a proxy in one configuration. Confined to its loop.
final class LoopState {
  let loop: EventLoop
  let service: Service
  // The service's; here, too, because a value one step away is passed on without counting a reference.
  let hop: HopIdentity
  let upstreams: UpstreamCondition
  // Those of the loop, through every reload.
  let clock: LoopClock
  let lent: LentMemory
  /// The rules for callers, by listener.
  let contexts: [ObjectIdentifier: ListenerContext]
  /// The token of each slot, as last published.
  var bearers: [BearerValue?]
  let pools: [OriginPool]
  let metrics: MetricsWriter
  var accessRecords: AccessRecordWriter
  /// The name of each slot's account, and the token that it was taken from.
  private var recordedAccounts: [(value: UInt64, name: [UInt8])]
  /// Requests in progress that look like those of a loop.
  var unmarkedRequests = 0
  var callerTokens: CallerTokens
  private var lastFlush = MonotonicTime(nanoseconds: 0)
  private var isSucceeded = false

  private static let recordBatch = 8 * 1024
  private static let recordDelay = TimeSpan.milliseconds(100)

  /// A loop's part of a generation. From the one before it takes over tokens of equal keys, and connections to
  /// upstreams with unchanged address and trust.
  init(
    _ service: Service, contexts: [ObjectIdentifier: ListenerContext], loop: EventLoop,
    succeeding former: LoopState? = nil
  ) {
    self.service = service
    hop = service.hop
    upstreams = service.upstreams
    self.contexts = contexts
    self.loop = loop
    clock = former?.clock ?? LoopClock(loop)
    lent = former?.lent ?? LentMemory()
    callerTokens = CallerTokens(limit: service.limits.callerTokens)
    bearers = service.plan.subscriptions.map { former?.bearer(of: $0.key) }
    let known = former.map { Dictionary(zip($0.service.plan.origins, $0.pools)) { first, _ in first } } ?? [:]
    let (metrics, gauge) = (service.registry.writer(loop.index), service.metrics.upstreamHTTP2Connections)
    pools = service.plan.origins.map { entry in
      known[entry]
        ?? OriginPool(
          entry.origin, limits: entry.limits, head: service.limits.head, resolver: service.process.resolver, loop: loop,
          countsShared: { metrics.add(gauge, Int64($0)) })
    }
    self.metrics = metrics
    recordedAccounts = service.plan.subscriptions.map { _ in (0, []) }
    accessRecords = AccessRecordWriter(format: service.accessFormat, routes: service.plan.routes.map(\.name))
  }

  // MARK: Tokens

  /// Stores a new token of a key, if a route has that; nil removes the one before.
  func publish(_ value: BearerValue?, for key: AcquisitionKey) {
    if let slot = service.plan.slots[key] { bearers[slot] = value }
  }

  private func bearer(of key: AcquisitionKey) -> BearerValue? {
    service.plan.slots[key].flatMap { bearers[$0] }
  }

  // MARK: The end of a generation

  /// Requests that begin from now on belong to another state. Connections to upstreams that it does not share are
  /// closed, as soon as they are idle.
  func isSucceeded(by successor: LoopState) {
    isSucceeded = true
    for pool in pools where !successor.pools.contains(where: { $0 === pool }) { pool.retire() }
    flushAccessRecords()
  }

  // MARK: Access records

  /// A request was recorded: its line leaves with the next batch.
  func hasRecorded() {
    if accessRecords.count >= Self.recordBatch || loop.now - lastFlush > Self.recordDelay || isSucceeded {
      flushAccessRecords()
    }
  }

  /// The account of a slot's token in the form of access records; empty if they have none.
  func recordedAccount(of value: BearerValue, slot: Int) -> [UInt8] {
    if service.identities == .none { return [] }
    if recordedAccounts[slot].value != value.id {
      recordedAccounts[slot] = (value.id, service.identities.recorded(value.origin.account?.name))
    }
    return recordedAccounts[slot].name
  }

  /// Passes the access records to the writer.
  func flushAccessRecords() {
    guard let accessLog = service.accessLog, accessRecords.count > 0 else { return }
    lastFlush = loop.now
    accessRecords.drain { accessLog.write($0) }
  }
}

/// A loop's clock. Confined to its loop.
final class LoopClock {
  private let loop: EventLoop
  private var clock = (monotonic: MonotonicTime(nanoseconds: 0), wall: WallTime(seconds: 0))
  /// Numbers to distinguish requests, not to keep secrets.
  var random = SplitMix64()
  /// The value of `Date`, as of the last `refreshDate`.
  private(set) var dateText = ByteBuffer(capacity: HTTPDate.byteCount)
  private var dateSecond: Int64 = -1

  init(_ loop: EventLoop) {
    self.loop = loop
  }

  /// The wall clock, at most a tenth of a second old.
  func wallClock() -> WallTime {
    // Not `loop.now`: that may be a while ago, and the clock would be fast by as much.
    if loop.now - clock.monotonic > .milliseconds(100) { clock = (.now, WallTime.now) }
    return clock.wall.advanced(by: loop.now - clock.monotonic)
  }

  /// Updates `dateText` for a message sent now.
  func refreshDate() {
    let second = wallClock().seconds
    guard second != dateSecond else { return }
    dateSecond = second
    dateText.removeAll()
    HTTPDate.write(second, into: &dateText)
  }
}

/// Steele, Lea and Flood's SplitMix64, from a random seed unless a test gives one. One number reveals the next.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64 = .random(in: .min ... .max)) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
