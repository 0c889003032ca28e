/// The allowance for events that an honest peer causes now and then: so many at once, and so many a second.
struct TokenBucket {
  private let capacity: Int
  private let perSecond: Int
  private var level: Int
  private var last: UInt64 = 0

  init(capacity: Int, perSecond: Int) {
    self.capacity = capacity
    self.perSecond = perSecond
    level = capacity
  }

  /// Takes one token at `now`, in nanoseconds. False: none is left.
  mutating func take(at now: UInt64) -> Bool {
    if last == 0 { last = now }
    let due = Int(clamping: (now - min(now, last)) / (1_000_000_000 / UInt64(perSecond)))
    if due > 0 {
      level = min(level + min(due, capacity), capacity)
      last = now
    }
    if level == 0 { return false }
    level -= 1
    return true
  }

  /// Adds tokens: the peer has done something useful.
  mutating func add(_ count: Int) { level = min(level + count, capacity) }
}

/// The abuse of a connection for which it is ended.
package enum SessionAbuse: String, Sendable, CaseIterable {
  /// Streams that the peer resets (CVE-2023-44487).
  case resets
  /// Errors that make us reset streams (CVE-2025-8671).
  case streamErrors = "stream_errors"
  /// Frames that carry nothing: empty ones, PING, SETTINGS, PRIORITY, WINDOW_UPDATE (CVE-2019-9512 and
  /// its relatives).
  case idleFrames = "idle_frames"
  /// A header block that is small on the wire and large when decoded.
  case headers
}

/// Counts what a peer does that costs us work and gives it nothing.
struct AbuseMeter {
  // High enough for clients that cancel by habit, such as a browser's search field or a gRPC client with deadlines.
  private var resets = TokenBucket(capacity: 500, perSecond: 50)
  private var streamErrors = TokenBucket(capacity: 100, perSecond: 5)
  // Less than the answers to them that libnghttp2 keeps.
  private var idleFrames = TokenBucket(capacity: 800, perSecond: 200)
  /// The abuse that was found.
  private(set) var found: SessionAbuse?

  mutating func streamWasReset(at now: UInt64) { if !resets.take(at: now) { found = .resets } }
  mutating func streamFailed(at now: UInt64) { if !streamErrors.take(at: now) { found = .streamErrors } }
  mutating func frameWasIdle(at now: UInt64) { if !idleFrames.take(at: now) { found = .idleFrames } }
  mutating func headersAreTooLarge() { found = .headers }
  /// Records a frame of content in either direction, which pays for window updates.
  mutating func contentMoved() { idleFrames.add(4) }
}
