// The pool as a table: what happened, one line after the other, and exactly what is to be done about it.

import Bytes
import HTTP
import Platform
import Testing

@testable import HTTPClient

@Suite struct PoolStateTests {
  private static let limits = PoolLimits(maximumIdle: 2, idleTimeout: .seconds(10))

  private enum Event {
    case lease
    case connect
    case want
    case made(Int, capacity: Int = 1, isShared: Bool = false)
    case failed(Int)
    case ended(Int, PoolState.Condition = .reusable)
    case closedByPeer(Int)
    case leaseFresh
    case capacity(Int, of: Int)
    case lentInVain(Int)
    case reserved(Int)
    case reservationEnded(Int)
    case time
    case room
    case retire
  }

  /// Applies an event at a second and says what the pool answers.
  private static func apply(_ event: Event, to state: inout PoolState, at second: UInt64) -> String {
    let now = MonotonicTime(nanoseconds: 0) + .seconds(second)
    func id(_ index: Int) -> PoolState.ID { PoolState.ID(index: index) }
    let action: PoolState.Action? =
      switch event {
      case .lease: state.leaseRequested(at: now)
      case .leaseFresh: state.leaseRequested(at: now, isFresh: true)
      case .connect: .lend(state.connectionRequested())
      case .want: state.connectionWanted().map { .lend($0) }
      case .made(let index, let capacity, let isShared):
        state.connectionMade(id(index), capacity: capacity, isShared: isShared)
      case .failed(let index):
        {
          state.connectionFailed(id(index)); return nil
        }()
      case .ended(let index, let condition): state.exchangeEnded(id(index), condition, at: now)
      case .closedByPeer(let index): state.closedByPeer(id(index))
      case .capacity(let capacity, let index): state.capacityChanged(id(index), to: capacity)
      case .lentInVain(let index): state.lentInVain(id(index))
      case .reserved(let index): state.reservedRequested(id(index), at: now)
      case .reservationEnded(let index): state.reservationEnded(id(index))
      case .time: state.timePassed(now)
      case .room: state.roomNeeded()
      case .retire: state.retired()
      }
    return switch action {
    case .lend(let id): "lend \(id.index)"
    case .keep(let id): "keep \(id.index)"
    case .close(let id): "close \(id.index)"
    case nil: "nothing"
    }
  }

  private struct Step {
    var second: UInt64
    var event: Event
    var expected: String
    var idle: Int

    init(_ event: Event, _ expected: String, at second: UInt64 = 0, idle: Int = 0) {
      (self.event, self.expected, self.second, self.idle) = (event, expected, second, idle)
    }
  }

  private static let open: [Step] = [
    Step(.connect, "lend 0"), Step(.made(0), "lend 0"), Step(.connect, "lend 1"), Step(.made(1), "lend 1"),
  ]

  private static let tables: KeyValuePairs<String, [Step]> = [
    "what cannot be repeated takes a connection that was idle for less than a second": open + [
      Step(.ended(0, .reusable), "keep 0", idle: 1), Step(.ended(1, .reusable), "keep 1", at: 1, idle: 2),
      Step(.leaseFresh, "lend 1", at: 1, idle: 1), Step(.ended(1, .reusable), "keep 1", at: 1, idle: 2),
      Step(.leaseFresh, "close 1", at: 2, idle: 1), Step(.lease, "lend 0", at: 2),
    ],
    "an empty pool has nothing to lend, to close or to expire": [
      Step(.lease, "nothing"), Step(.time, "nothing"), Step(.room, "nothing"), Step(.retire, "nothing"),
    ],
    "the connection given back last is lent first, and none twice": open + [
      Step(.lease, "nothing"),
      Step(.ended(0), "keep 0", idle: 1), Step(.ended(1), "keep 1", idle: 2),
      Step(.lease, "lend 1", idle: 1), Step(.lease, "lend 0"), Step(.lease, "nothing"),
    ],
    "a connection that could not be made leaves its number to the next": [
      Step(.connect, "lend 0"), Step(.connect, "lend 1"), Step(.failed(0), "nothing"), Step(.lease, "nothing"),
      Step(.connect, "lend 0"), Step(.made(0), "lend 0"), Step(.made(1), "lend 1"), Step(.connect, "lend 2"),
    ],
    "no more are kept than the limit": open + [
      Step(.connect, "lend 2"), Step(.made(2), "lend 2"), Step(.ended(0), "keep 0", idle: 1),
      Step(.ended(1), "keep 1", idle: 2), Step(.ended(2), "close 2", idle: 2), Step(.connect, "lend 2", idle: 2),
    ],
    "what cannot be used again is closed, and what the peer closed as well": open + [
      Step(.ended(0, .unusable), "close 0"), Step(.ended(1), "keep 1", idle: 1),
      Step(.closedByPeer(1), "close 1"), Step(.lease, "nothing"),
    ],
    "a connection closed by the peer is lent in vain, and the one before it is tried": open + [
      Step(.ended(0), "keep 0", idle: 1), Step(.ended(1), "keep 1", idle: 2), Step(.lease, "lend 1", idle: 1),
      Step(.lentInVain(1), "close 1", idle: 1), Step(.lease, "lend 0"),
    ],
    "what has been idle too long is neither lent nor kept, to the nanosecond": open + [
      Step(.ended(0), "keep 0", at: 1, idle: 1), Step(.ended(1), "keep 1", at: 5, idle: 2),
      Step(.time, "nothing", at: 10, idle: 2), Step(.time, "close 0", at: 11, idle: 1),
      Step(.time, "nothing", at: 14, idle: 1), Step(.lease, "close 1", at: 15), Step(.lease, "nothing", at: 15),
    ],
    "where a descriptor is needed, the connection idle longest goes": open + [
      Step(.room, "nothing"), Step(.ended(1), "keep 1", idle: 1), Step(.ended(0), "keep 0", idle: 2),
      Step(.room, "close 1", idle: 1), Step(.room, "close 0"), Step(.room, "nothing"),
    ],
    "a retired pool closes what is idle, then what comes back, and keeps nothing new": open + [
      Step(.connect, "lend 2"), Step(.ended(0), "keep 0", idle: 1), Step(.retire, "close 0"),
      Step(.retire, "nothing"),
      Step(.ended(1), "close 1"), Step(.made(2), "lend 2"), Step(.ended(2), "close 2"),
      Step(.connect, "lend 2"), Step(.made(2), "lend 2"), Step(.ended(2, .reserved), "close 2"),
    ],
    "what is reserved for a caller is lent to no other, expires, and goes with its caller": open + [
      Step(.ended(0, .reserved), "keep 0"), Step(.lease, "nothing"), Step(.room, "nothing"), Step(.time, "nothing"),
      Step(.reserved(0), "lend 0", at: 9), Step(.ended(0, .reserved), "keep 0", at: 9),
      Step(.reserved(0), "close 0", at: 19), Step(.ended(1, .reserved), "keep 1"),
      Step(.reservationEnded(1), "close 1"),
    ],
    "a connection for several exchanges is lent until it is full, and idle when all are over": [
      Step(.connect, "lend 0"), Step(.made(0, capacity: 3), "lend 0"), Step(.lease, "lend 0"), Step(.lease, "lend 0"),
      Step(.lease, "nothing"), Step(.ended(0), "keep 0"), Step(.lease, "lend 0"), Step(.ended(0), "keep 0"),
      Step(.ended(0), "keep 0"), Step(.room, "nothing"), Step(.time, "nothing", at: 99),
      Step(.ended(0), "keep 0", at: 100, idle: 1), Step(.lease, "lend 0", at: 109),
      Step(.ended(0), "keep 0", at: 110, idle: 1), Step(.time, "close 0", at: 120),
    ],
    "a connection whose peer takes no more exchanges is closed after the last of them": [
      Step(.connect, "lend 0"), Step(.made(0, capacity: 3), "lend 0"), Step(.lease, "lend 0"),
      Step(.closedByPeer(0), "keep 0"), Step(.lease, "nothing"), Step(.closedByPeer(0), "keep 0"),
      Step(.ended(0), "keep 0"), Step(.ended(0), "close 0"),
    ],
    "one exchange that breaks a shared connection lets the others end": [
      Step(.connect, "lend 0"), Step(.made(0, capacity: 2), "lend 0"), Step(.lease, "lend 0"),
      Step(.ended(0, .unusable), "keep 0"), Step(.lease, "nothing"), Step(.ended(0), "close 0"),
    ],
    "a reset exchange leaves a shared connection to the others and to more, and ends one of its own": [
      Step(.connect, "lend 0"), Step(.made(0, capacity: 2), "lend 0"), Step(.lease, "lend 0"),
      Step(.ended(0, .reset), "keep 0"), Step(.lease, "lend 0"), Step(.ended(0, .reset), "keep 0"),
      Step(.ended(0, .reset), "keep 0", idle: 1), Step(.lease, "lend 0"), Step(.capacity(1, of: 0), "keep 0"),
      Step(.ended(0, .reset), "keep 0", idle: 1), Step(.connect, "lend 1", idle: 1),
      Step(.made(1), "lend 1", idle: 1),
      Step(.ended(1, .reset), "close 1", idle: 1),
    ],
    "a larger capacity is lent at once, and a smaller one when enough exchanges are over": [
      Step(.connect, "lend 0"), Step(.made(0, capacity: 2), "lend 0"), Step(.lease, "lend 0"),
      Step(.lease, "nothing"), Step(.capacity(3, of: 0), "keep 0"), Step(.capacity(4, of: 0), "keep 0"),
      Step(.lease, "lend 0"), Step(.capacity(2, of: 0), "keep 0"), Step(.lease, "nothing"),
      Step(.capacity(1, of: 0), "keep 0"), Step(.ended(0), "keep 0"), Step(.lease, "nothing"),
      Step(.ended(0), "keep 0"), Step(.lease, "nothing"), Step(.ended(0), "keep 0", idle: 1),
      Step(.capacity(2, of: 0), "keep 0", idle: 1), Step(.lease, "lend 0"), Step(.lease, "lend 0"),
      Step(.lease, "nothing"),
    ],
    "a peer whose capacity is 0 is left when its exchanges are over, at once if there are none": open + [
      Step(.ended(1), "keep 1", idle: 1), Step(.capacity(0, of: 1), "close 1"), Step(.capacity(0, of: 0), "keep 0"),
      Step(.capacity(5, of: 0), "keep 0"), Step(.lease, "nothing"), Step(.ended(0), "close 0"),
    ],
    "a shared connection that is gone when lent keeps what began before": [
      Step(.connect, "lend 0"), Step(.made(0, capacity: 2), "lend 0"), Step(.lease, "lend 0"),
      Step(.lentInVain(0), "keep 0"), Step(.lease, "nothing"), Step(.ended(0, .unusable), "close 0"),
    ],
    "a connection that the pool learns to be gone while it is lent in vain is closed": [
      Step(.connect, "lend 0"), Step(.made(0, capacity: 2), "lend 0"), Step(.ended(0), "keep 0", idle: 1),
      Step(.lease, "lend 0"), Step(.closedByPeer(0), "keep 0"), Step(.lentInVain(0), "close 0"),
      Step(.lease, "nothing"), Step(.connect, "lend 0"), Step(.made(0, capacity: 2), "lend 0"),
      Step(.lease, "lend 0"), Step(.closedByPeer(0), "keep 0"), Step(.lentInVain(0), "keep 0"),
      Step(.ended(0, .unusable), "close 0"),
    ],
  ]

  /// With an origin that may speak HTTP/2.
  private static let sharedTables: KeyValuePairs<String, [Step]> = [
    "exchanges wait for the first connection, and share it up to its peer's limit": [
      Step(.want, "lend 0"), Step(.want, "nothing"), Step(.made(0, isShared: true), "lend 0"),
      Step(.lease, "nothing"), Step(.want, "nothing"), Step(.capacity(2, of: 0), "keep 0"), Step(.lease, "lend 0"),
      Step(.lease, "nothing"), Step(.want, "lend 1"), Step(.want, "nothing"),
      Step(.made(1, isShared: true), "lend 1"),
    ],
    "a connection that cannot be made is tried again by the next": [
      Step(.want, "lend 0"), Step(.want, "nothing"), Step(.failed(0), "nothing"), Step(.want, "lend 0"),
    ],
    "an origin that chose HTTP/1.1 gets a connection for each exchange, until one has HTTP/2": [
      Step(.want, "lend 0"), Step(.want, "nothing"), Step(.made(0), "lend 0"), Step(.lease, "nothing"),
      Step(.want, "lend 1"), Step(.want, "lend 2"), Step(.made(1), "lend 1"),
      Step(.made(2, isShared: true), "lend 2"),
      Step(.want, "lend 3"), Step(.want, "nothing"),
    ],
    "a connection of one's own is not waited for, and says nothing of the others": [
      Step(.connect, "lend 0"), Step(.want, "lend 1"), Step(.made(0), "lend 0"), Step(.want, "nothing"),
      Step(.made(1, isShared: true), "lend 1"), Step(.want, "nothing"),
    ],
    "a peer that says nothing of its limit gets one exchange after the other": [
      Step(.want, "lend 0"), Step(.made(0, isShared: true), "lend 0"), Step(.want, "nothing"),
      Step(.ended(0), "keep 0", idle: 1), Step(.lease, "lend 0"), Step(.want, "nothing"),
    ],
    "a connection that takes no more is waited for no longer": [
      Step(.want, "lend 0"), Step(.made(0, isShared: true), "lend 0"), Step(.closedByPeer(0), "keep 0"),
      Step(.want, "lend 1"), Step(.made(1, isShared: true), "lend 1"), Step(.capacity(0, of: 1), "keep 1"),
      Step(.want, "lend 2"), Step(.ended(0, .unusable), "close 0"), Step(.ended(1, .reset), "close 1"),
    ],
  ]

  @Test(arguments: tables.map(\.key) + sharedTables.map(\.key))
  func `each event has exactly one answer`(name: String) throws {
    let shared = Self.sharedTables.first { $0.key == name }
    let steps = try #require(shared ?? Self.tables.first { $0.key == name }).value
    var state = PoolState(Self.limits, sharing: shared == nil ? .never : .possible)
    for (number, step) in steps.enumerated() {
      let answer = Self.apply(step.event, to: &state, at: step.second)
      #expect(answer == step.expected, "step \(number): \(step.event)")
      #expect(state.idleCount == step.idle, "step \(number): \(step.event)")
    }
  }
}
