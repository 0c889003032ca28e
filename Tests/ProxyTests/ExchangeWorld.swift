// Callers, a pool of connections and an upstream as values under a seeded schedule: the pure states of exchanges and
// pool with a transport that is simulated. A unit of a message knows its exchange, so that a unit in the wrong one
// shows.

import Bytes
import HTTP
import HTTPClient
import Platform
import Telemetry

@testable import Proxy

/// A mistake of the code around the states, which the world has to find.
enum ExchangeDefect: CaseIterable {
  /// A connection is used again, whatever the state says.
  case keepsEveryConnection
  /// A connection from the pool is not looked at before it is used.
  case lendsUnseen
  /// The wait for the answer is forgotten.
  case forgetsAnswer
}

struct ExchangeWorld {
  /// A part of a message, with the number of its exchange; 0 for bytes that nothing asked for.
  enum Unit: Equatable {
    case requestHead(Int, units: Int)
    case content(Int)
    case interim(Int)
    case answerHead(Int, ExchangeState.AnswerHead, units: Int)
    case answerContent(Int)
  }

  /// A connection, and the upstream at its end.
  struct Wire {
    var toUpstream: [Unit] = []
    var toProxy: [Unit] = []
    /// Units that were read together with the end of an answer: a look at the connection does not show them.
    var readTooMuch: [Unit] = []
    /// True if the upstream sends and reads nothing more.
    var isClosed = false
    /// The request that the upstream reads, and the units it still expects.
    var reading: (exchange: Int, units: Int)?
    /// The units of an answer that it still sends.
    var sending: [Unit] = []
    var closesAfterwards = false
  }

  /// One exchange, and what the relay knows of it.
  private struct Run {
    let number: Int
    let units: Int
    let terms: ExchangeState.Terms
    var state: ExchangeState
    var wire = PoolState.ID?.none
    var sent = 0
    var produced = 0
    var left = 0
    var isUntilClose = false
    var delivered = 0
    var wait: ExchangeState.Wait?
  }

  private var random: SplitMix64
  private let defect: ExchangeDefect?
  private var now = MonotonicTime(nanoseconds: 0)
  private var pool = PoolState(PoolLimits(maximumIdle: 3, idleTimeout: .seconds(8)))
  private var wires: [PoolState.ID: Wire] = [:]
  private var runs: [Run] = []
  private var begun = 0
  private(set) var steps = 0
  private(set) var ended = 0
  private(set) var reused = 0
  private(set) var violations: [String] = []

  init(seed: UInt64, defect: ExchangeDefect? = nil) {
    random = SplitMix64(seed: seed)
    self.defect = defect
  }

  /// Runs so many exchanges to their ends.
  mutating func run(exchanges: Int) {
    while ended < exchanges, steps < exchanges * 1000, violations.isEmpty {
      steps += 1
      switch below(10) {
      case 0 where runs.count < 4 && begun < exchanges: begin()
      case 0..<4: upstreamTurn()
      case 4: pass()
      default: if !runs.isEmpty { turn(below(runs.count)) }
      }
    }
    if ended < exchanges, violations.isEmpty { violations.append("\(runs.count) exchanges have no end") }
  }

  private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
  private mutating func isLucky(_ chance: Int) -> Bool { below(chance) == 0 }

  // MARK: Callers

  private mutating func begin() {
    begun += 1
    let units = isLucky(2) ? 0 : 1 + below(5)
    var terms = ExchangeState.Terms()
    terms.request.method = units > 0 ? .post : .get
    terms.request.framing = units > 0 ? .fixed(UInt64(units)) : .none
    terms.request.expectsContinue = isLucky(5)
    terms.credential = isLucky(2) ? .proxy : .none
    (terms.idle, terms.responseHead) = (.seconds(10), .seconds(20))
    if isLucky(3) { terms.whole = now + .seconds(40) }
    runs.append(Run(number: begun, units: units, terms: terms, state: ExchangeState(terms)))
    connect(runs.count - 1, runs[runs.count - 1].state.begin())
  }

  /// Time passes, up to the first end of a wait.
  private mutating func pass() {
    let next = runs.compactMap(\.wait?.until).min() ?? .distantFuture
    now = min(now + .milliseconds(UInt64(below(3000))), max(next, now))
    while case .close(let id) = pool.timePassed(now) { wires[id] = nil }
    if isLucky(20), case .close(let id) = pool.roomNeeded() { wires[id] = nil }
  }

  private mutating func connect(_ at: Int, _ sources: ExchangeState.ConnectionSources) {
    var lent: PoolState.ID?
    while lent == nil, sources.contains(.pool), let action = pool.leaseRequested(at: now) {
      switch action {
      case .lend(let id):
        let isQuiet = wires[id].map { !$0.isClosed && $0.toProxy.isEmpty } ?? false
        if isQuiet || defect == .lendsUnseen { lent = id } else { close(pool.lentInVain(id)) }
      case .keep, .close: close(action)
      }
    }
    let isReused = lent != nil
    let id = lent ?? pool.connectionRequested()
    if isReused {
      reused += 1
      // The end of a request may still be on its way to the upstream.
      if let wire = wires[id],
        wire.isClosed || wire.closesAfterwards || !wire.toProxy.isEmpty || !wire.readTooMuch.isEmpty
          || !wire.sending.isEmpty
      {
        violations.append("exchange \(runs[at].number) gets a connection that is not clean")
      }
    } else {
      _ = pool.connectionMade(id)
      wires[id] = Wire()
    }
    (runs[at].wire, runs[at].sent, runs[at].left, runs[at].wait) = (id, 0, 0, nil)
    wires[id]?.toUpstream.append(.requestHead(runs[at].number, units: runs[at].units))
    runs[at].state.connected(isReused: isReused, contentHasBegun: runs[at].produced > 0)
  }

  private mutating func close(_ action: PoolState.Action) { if case .close(let id) = action { wires[id] = nil } }

  private mutating func giveBack(_ at: Int, isReusable: Bool) {
    guard let id = runs[at].wire else { return }
    close(pool.exchangeEnded(id, isReusable || defect == .keepsEveryConnection ? .reusable : .unusable, at: now))
    runs[at].wire = nil
  }

  private mutating func end(_ at: Int, _ ending: ExchangeState.Ending) {
    if case .completed(let reuses, _) = ending {
      giveBack(at, isReusable: reuses)
    } else {
      giveBack(at, isReusable: false)
    }
    runs.remove(at: at)
    ended += 1
  }

  // MARK: The relay

  private mutating func turn(_ at: Int) {
    if let wait = runs[at].wait {
      if now >= wait.until { return end(at, runs[at].state.timedOut(wait, at: now)) }
      if isLucky(60), !runs[at].state.isDelivering { return end(at, runs[at].state.callerLeft()) }
      guard isOver(wait, at) else { return }
    }
    if runs[at].state.movesRequest, let ending = moveRequest(at) { return end(at, ending) }
    if runs[at].state.movesAnswer, moveAnswer(at) { return }
    switch runs[at].state.pause(moved: UInt64(runs[at].sent), at: now) {
    case .yield: runs[at].wait = nil
    case .finish(let ending): end(at, ending)
    case .wait(var wait):
      if defect == .forgetsAnswer { wait.needs.remove(.answer) }
      let state = runs[at].state
      if state.movesAnswer,
        wait.needs.isDisjoint(with: [.answer, .callerRoom, .turn])
          || state.movesRequest && wait.needs.isEmpty || wait.until > now + .seconds(20)
      {
        violations.append("exchange \(runs[at].number) waits without an end")
      }
      runs[at].wait = wait
    }
  }

  private mutating func isOver(_ wait: ExchangeState.Wait, _ at: Int) -> Bool {
    let wire = runs[at].wire.flatMap { wires[$0] } ?? Wire()
    return wait.needs.contains(.answer) && (!wire.toProxy.isEmpty || wire.isClosed)
      || !wait.needs.isDisjoint(with: [.upstreamRoom, .callerRoom, .turn])
      || wait.needs.contains(.content) && isLucky(3)
  }

  private mutating func moveRequest(_ at: Int) -> ExchangeState.Ending? {
    guard let id = runs[at].wire, let wire = wires[id] else { return nil }
    var step = BodyPump.Step.finished
    if runs[at].sent < runs[at].units {
      if runs[at].produced == runs[at].sent, isLucky(2) { runs[at].produced += 1 }
      if runs[at].produced == runs[at].sent {
        step = isLucky(40) ? .failed(.sourceEnded) : .needsSource
      } else if wire.isClosed {
        step = .failed(.sink(.reset))
      } else if isLucky(4) {
        step = .needsSink
      } else {
        wires[id]?.toUpstream.append(.content(runs[at].number))
        runs[at].sent += 1
        step = runs[at].sent < runs[at].units ? .tookItsTurn : .finished
      }
    }
    let action = runs[at].state.requestMoved(step, contentHasBegun: runs[at].produced > 0, at: now)
    if case .finish(let ending) = action { return ending } else { return nil }
  }

  /// The next unit of the answer. Its exchange must be the one that reads it.
  private mutating func take(_ at: Int) -> Unit? {
    guard let id = runs[at].wire, wires[id]?.toProxy.isEmpty == false, let unit = wires[id]?.toProxy.removeFirst()
    else { return nil }
    switch unit {
    case .interim(let number), .answerHead(let number, _, _), .answerContent(let number):
      if number != runs[at].number { violations.append("exchange \(runs[at].number) gets a byte of \(number)") }
    case .requestHead, .content: preconditionFailure("an upstream sends a request")
    }
    return unit
  }

  /// True if the attempt is over.
  private mutating func moveAnswer(_ at: Int) -> Bool {
    while runs[at].state.awaitsHead {
      guard let unit = take(at) else {
        guard isClosed(at) else {
          runs[at].state.headNeeds(.answer)
          return false
        }
        switch runs[at].state.upstreamEnded(.mayBeProcessed, contentIsKept: true) {
        case .retry(let sources):
          giveBack(at, isReusable: false)
          connect(at, sources)
        case .finish(let ending): end(at, ending)
        }
        return true
      }
      runs[at].state.answerArrives()
      switch unit {
      case .interim:
        if case .finish(let ending) = runs[at].state.interimArrived(status: 100) {
          end(at, ending)
          return true
        }
      case .answerHead(_, let head, let units):
        (runs[at].left, runs[at].isUntilClose) = (units, head.framing == .untilClose)
        if case .hold = runs[at].state.headArrived(head, callerMustEnd: isLucky(8)), settleRefusal(at) { return true }
      case .answerContent, .requestHead, .content:
        end(at, runs[at].state.answerRefused(.statusLine))
        return true
      }
    }
    return moveContent(at)
  }

  private func isClosed(_ at: Int) -> Bool { runs[at].wire.flatMap { wires[$0]?.isClosed } ?? true }

  private mutating func moveContent(_ at: Int) -> Bool {
    var step = BodyPump.Step.finished
    if isLucky(5) {
      step = .needsSink
    } else if runs[at].left > 0 {
      if take(at) != nil {
        runs[at].left -= 1
        runs[at].delivered += 1
        step = runs[at].left > 0 || runs[at].isUntilClose ? .tookItsTurn : .finished
      } else {
        step = isClosed(at) ? .failed(.sourceEnded) : .needsSource
      }
    } else if runs[at].isUntilClose, !isClosed(at) {
      step = .needsSource
    }
    let hasMore = runs[at].wire.flatMap { wires[$0] }.map { !$0.toProxy.isEmpty } ?? false
    if case .finished = step, hasMore, let id = runs[at].wire, var wire = wires[id] {
      (wire.readTooMuch, wire.toProxy) = (wire.toProxy, [])
      wires[id] = wire
    }
    switch runs[at].state.answerMoved(step, leavesBytes: hasMore, callerHasPart: runs[at].delivered > 0)
    {
    case .move, .endDirection: return false
    case .finish(let ending):
      end(at, ending)
      return true
    }
  }

  /// True if the attempt is over.
  private mutating func settleRefusal(_ at: Int) -> Bool {
    let remedy: ExchangeState.Remedy =
      runs[at].state.isReplay ? .none : ExchangeState.Remedy.allCases[below(ExchangeState.Remedy.allCases.count)]
    switch runs[at].state.refusalSettled(remedy, callerMustEnd: false) {
    case .answer: return false
    case .drop(let framing, then: let replacement):
      // As much of the held answer as has arrived.
      while runs[at].left > 0, take(at) != nil { runs[at].left -= 1 }
      let isEmpty = runs[at].wire.flatMap { wires[$0] }.map { $0.toProxy.isEmpty && !$0.isClosed } ?? false
      giveBack(at, isReusable: framing != nil && framing != .untilClose && runs[at].left == 0 && isEmpty)
      if case .replay(let sources) = replacement {
        connect(at, sources)
      } else {
        runs.remove(at: at)
        ended += 1
      }
      return true
    }
  }

  // MARK: The upstream

  private mutating func upstreamTurn() {
    guard let id = wires.keys.sorted(by: { $0.index < $1.index }).randomElement(using: &random), var wire = wires[id],
      !wire.isClosed
    else { return }
    let isIdle = pool.isIdle(id)
    if isLucky(80) || isIdle && isLucky(20) {
      wire.isClosed = true
      wires[id] = wire
      // The loop may have seen it.
      if isIdle, isLucky(2) { close(pool.closedByPeer(id)) }
      return
    }
    if isIdle, isLucky(20) { wire.toProxy.append(.interim(0)) }
    // It closes a while after its last answer.
    if wire.closesAfterwards, wire.sending.isEmpty, isLucky(3) { wire.isClosed = true }
    if !wire.toUpstream.isEmpty, wire.sending.isEmpty || wire.reading != nil { read(&wire) }
    if !wire.sending.isEmpty, isLucky(2) {
      wire.toProxy.append(wire.sending.removeFirst())
      // Too many bytes come with the last of the answer: from later ones no proxy could tell whose they are.
      if wire.sending == [.answerContent(0)] { wire.toProxy.append(wire.sending.removeFirst()) }
    }
    wires[id] = wire
  }

  private mutating func read(_ wire: inout Wire) {
    switch (wire.toUpstream.removeFirst(), wire.reading) {
    case (.requestHead(let number, let units), nil):
      wire.reading = units > 0 ? (number, units) : nil
      if units > 0, isLucky(4) { wire.toProxy.append(.interim(number)) }
      // Some answers come before the content.
      if units == 0 || isLucky(4) { answer(number, &wire) }
    case (.content(let number), .some(let reading)):
      if number != reading.exchange { violations.append("a request of \(reading.exchange) has a byte of \(number)") }
      let hasAnswered = wire.closesAfterwards || !wire.sending.isEmpty || answered.contains(number)
      wire.reading = reading.units > 1 ? (reading.exchange, reading.units - 1) : nil
      if wire.reading == nil, !hasAnswered { answer(number, &wire) }
    case (let unit, _): violations.append("an upstream reads \(unit) in the middle of another request")
    }
  }

  /// The exchanges that have their answer on the present connection before their content.
  private var answered: Set<Int> = []

  private mutating func answer(_ number: Int, _ wire: inout Wire) {
    if wire.reading != nil { answered.insert(number) }
    let closes = isLucky(6)
    let units = below(4)
    var head = ExchangeState.AnswerHead(
      status: [200, 200, 401, 413][below(4)], framing: units > 0 ? .fixed(UInt64(units)) : .none)
    if closes { (head.persistence, head.framing) = (.close, isLucky(2) ? .untilClose : head.framing) }
    wire.closesAfterwards = closes
    wire.sending = [.answerHead(number, head, units: units)]
    wire.sending += [Unit](repeating: .answerContent(number), count: units)
    if isLucky(30) { wire.sending.append(.answerContent(0)) }
  }
}
