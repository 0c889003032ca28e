// The invariants: what may never happen, whatever the schedule.

import Bytes
import Tokens

/// Watches a world and records what may not be. `@unchecked Sendable`: one thread.
final class Judge: @unchecked Sendable {
  private struct Flight {
    var life: ProcessLife
    var since: Double
  }

  /// Refusals with `Retry-After` of one process's requests for its application's own tokens, in a row.
  private struct Refusals {
    var count = 0
    /// The arrival of the last of them at the process, and the end of the time that it named.
    var from = 0.0
    var end = 0.0
    /// The requests that have no answer, and when they were sent.
    var open: [(number: Int, sent: Double)] = []
  }

  private(set) var violations: [String] = []
  /// True if the caches of a group were as they should be from a time on.
  var isReliable: (_ group: Int, _ since: Double) -> Bool = { _, _ in true }
  /// Groups with a process whose clock was ever wrong: what it stored ends when its clock says so.
  private var groupsWithWrongClocks: Set<Int> = []
  /// True if the provider answered quickly from a time on: otherwise a process does not wait for another one's request.
  var isPrompt: (_ since: Double) -> Bool = { _ in true }
  /// Calls by their result.
  private(set) var calls = (all: 0, served: 0, late: 0)
  private(set) var openCalls = 0
  /// Seconds for which a process waits for another one's request before it makes its own.
  private static let patience = (application: 14.0, person: 590.0)
  /// Seconds after a new token in which a second one is one too many: its renewal is not due before.
  private let freshness: Double
  /// The longest wait of a caller: for a provider, and twice for a cache that does not answer.
  private static let longestCall = 30.0
  /// The time in which a process expects an answer; its clock counts whole seconds.
  private static let answerLimit = 29.0
  private var flights: [String: [Flight]] = [:]
  private var successes: [String: (time: Double, life: ProcessLife)] = [:]
  private var pauses: [String: (from: Double, end: Double, refreshToken: String?)] = [:]
  /// The applications of processes that were told to wait, until they get a token.
  private var refusals: [String: Refusals] = [:]
  /// The processes that were ever told twice in a row.
  private var told: Set<Int> = []
  /// Receives each token that has arrived at a process.
  var onToken: (ProviderQuestion, ProviderAnswer) -> Void = { _, _ in }
  /// People whose newest refresh token a network, a death or a broken cache may have lost.
  private var excused: [String: String] = [:]
  private var newest: [String: (life: ProcessLife, generation: Int)] = [:]
  private(set) var reuses = 0

  /// The earliest renewal of a first token is at a quarter of the time until it is due, and at half of that for a
  /// process that finds it in a cache.
  init(tokenLife: Int64) { freshness = Double(tokenLife - min(300, tokenLife / 2)) / 8 }

  func record(_ violation: String, at time: Double) {
    if violations.count < 20 { violations.append("\(Int(time)) s: \(violation)") }
  }

  func hasWrongClock(_ life: ProcessLife) -> Bool { groupsWithWrongClocks.contains(life.group) }

  func noteWrongClock(of life: ProcessLife) { groupsWithWrongClocks.insert(life.group) }

  // MARK: Requests

  func arrived(_ question: ProviderQuestion, at time: Double) {
    let (life, key) = (question.process, question.key)
    // One that was sent before the answer came is none of these, and another refresh token ends a person's pause.
    if let pause = pauses["\(life.number) \(key)"], question.sent < pause.end, question.sent > pause.from,
      pause.refreshToken == question.refreshToken, life.isClockSteady(since: pause.from)
    {
      record("process \(life.number) asks for \(key) \(pause.end - question.sent) s before Retry-After", at: time)
    }
    guard question.isForToken else { return }
    judgePace(question, at: time)
    let shared = "\(life.group) \(key)"
    let patience = question.person == nil ? Self.patience.application : Self.patience.person
    for flight in flights[shared] ?? [] where flight.life.isAlive {
      if flight.life === life {
        record("process \(life.number) has two requests for \(key)", at: time)
      } else if time - flight.since < patience, isReliable(life.group, time - 130),
        question.person != nil || isPrompt(time - 60)
      {
        record("processes \(flight.life.number) and \(life.number) ask for \(key) at once", at: time)
      }
    }
    // A token with further claims does not show in a cache, and a process that waited in vain may have read it before.
    if let (last, other) = successes[shared], time - last < freshness, other.isAlive, question.person == nil,
      question.claims.isEmpty, other === life || isPrompt(time - 60),
      life.isClockSteady(since: last - 4000), other.isClockSteady(since: last - 4000),
      other === life || life.skew == other.skew && isReliable(life.group, last - 130)
    {
      record("process \(life.number) asks for \(key) \(time - last) s after \(other.number) got it", at: time)
    }
    flights[shared, default: []].append(Flight(life: life, since: time))
  }

  /// A process that was told to wait twice in a row sends nothing for its application before the time is over, whatever
  /// token it is for, and then one request at a time. Those that were on their way are none of these.
  private func judgePace(_ question: ProviderQuestion, at time: Double) {
    let (life, name) = (question.process, "\(question.process.number) \(question.client)")
    guard question.person == nil else { return }
    let sent = question.sent
    if let held = refusals[name], held.count > 0, sent > held.from, life.isClockSteady(since: held.from) {
      if sent < held.end {
        let early = held.end - sent
        record("process \(life.number) asks \(early) s before the pause of \(held.count) refusals ends", at: time)
      }
      if let other = held.open.last(where: { $0.sent > held.from })?.sent, sent - other < Self.answerLimit {
        record("process \(life.number) has two requests after \(held.count) refusals", at: time)
      }
    }
    refusals[name, default: Refusals()].open.append((question.number, sent))
  }

  private func notePace(_ question: ProviderQuestion, _ answer: ProviderAnswer, isLost: Bool, at time: Double) {
    let name = "\(question.process.number) \(question.client)"
    guard question.isForToken, question.person == nil, var held = refusals[name] else { return }
    held.open.removeAll { $0.number == question.number }
    if !isLost, let seconds = answer.retryAfter {
      // Those that were sent together are one.
      if held.count == 0 || question.sent > held.from { held.count += 1 }
      if held.count > 1 { told.insert(question.process.number) }
      (held.from, held.end) = (time, max(held.end, time + Double(seconds)))
    } else if !isLost, answer.token != nil {
      held.count = 0
    }
    refusals[name] = held.count == 0 && held.open.isEmpty ? nil : held
  }

  func answered(_ question: ProviderQuestion, _ answer: ProviderAnswer, isLost: Bool, at time: Double) {
    let (life, key) = (question.process, question.key)
    let shared = "\(life.group) \(key)"
    notePace(question, answer, isLost: isLost, at: time)
    if question.isForToken {
      flights[shared]?.removeAll { $0.life === life }
      if flights[shared]?.isEmpty == true { flights[shared] = nil }
    }
    if let person = question.person, let generation = answer.generation {
      newest[person] = (life, generation)
      if isLost { excused[person] = "its reply was lost" }
    }
    guard !isLost else { return }
    if let seconds = answer.retryAfter {
      pauses["\(life.number) \(key)"] = (time, time + Double(seconds), question.refreshToken)
    }
    if answer.token != nil {
      successes[shared] = (time, life)
      onToken(question, answer)
    }
  }

  /// True if a process was ever told to wait twice in a row.
  func isTold(_ life: ProcessLife) -> Bool { told.contains(life.number) }

  /// Records that an API refused a process's token: another request for it is due.
  func refused(_ life: ProcessLife) {
    successes = successes.filter { $0.value.life.group != life.group }
  }

  // MARK: Refresh tokens

  /// Records the second use of a refresh token; `latest` was issued last.
  func revoked(_ person: String, by question: ProviderQuestion, latest: Int, at time: Double) {
    reuses += 1
    // A process that received the latest one itself needs no cache to know it.
    let isKnown = newest[person].map { $0.life === question.process && $0.generation == latest } ?? false
    if !isKnown, !isReliable(question.process.group, time - 130) {
      excuse(person, "the cache was not to be relied on")
    }
    if excused[person] == nil {
      record("process \(question.process.number) sends a used refresh token of \(person)", at: time)
    }
  }

  /// Judges a write of a shared cache: it must not replace an application's token by an older one.
  func written(_ before: CacheDocument, _ after: CacheDocument, of group: Int, at time: Double) {
    if groupsWithWrongClocks.contains(group) { return }
    for place in before.places where place.section == .accessToken {
      guard let old = before[place], let new = after[place], old["home_account_id"] == nil, new.time < old.time else {
        continue
      }
      record("a token of \(new.time) replaces one of \(old.time) in the cache of group \(group)", at: time)
    }
  }

  func excuse(_ person: String, _ reason: String) { excused[person] = excused[person] ?? reason }

  /// Records the end of a process: a refresh token that it had not stored is lost.
  func ended(_ life: ProcessLife, stored: (String) -> Int?) {
    for (person, latest) in newest.sorted(by: { $0.key < $1.key }) where latest.life === life {
      if (stored(person) ?? -1) < latest.generation { excuse(person, "its process ended before it was stored") }
    }
    // A reply on its way is lost, too.
    for (key, flights) in flights where flights.contains(where: { $0.life === life }) {
      for person in newest.keys where key.hasSuffix(" \(person)") { excuse(person, "its process ended meanwhile") }
    }
  }

  /// Judges a cache that had time to receive a refresh token.
  func filed(_ person: String, _ generation: Int, of client: String, in document: CacheDocument, at time: Double) {
    if excused[person] != nil { return }
    let held = document.generation(of: person, client: client)
    if (held ?? -1) < generation {
      record("the cache lacks the refresh token \(generation) of \(person), it has \(held ?? -1)", at: time)
    }
  }

  /// Judges the caches after everything has calmed down.
  func judge(_ person: String, issued: Int?, stored: Int?, at time: Double) {
    if excused[person] != nil { return }
    guard let issued else { return record("the sign-in of \(person) was revoked", at: time) }
    if stored != issued {
      record("the refresh token \(issued) of \(person) is lost, \(stored.map(String.init) ?? "none") is held", at: time)
    }
  }

  // MARK: Calls

  func callBegan() {
    calls.all += 1
    openCalls += 1
  }

  func callEnded(_ life: ProcessLife, after seconds: Double, at time: Double) {
    openCalls -= 1
    if seconds > Self.longestCall, life.isAlive {
      record("a caller of process \(life.number) waited \(seconds) s", at: time)
    }
  }

  /// Judges a token that a call carries, and returns what it says. `claims`: those that the API requires.
  func sent(
    _ text: String, for key: AcquisitionKey, subject: String, claims: String? = nil, by life: ProcessLife,
    at time: Double
  ) -> TokenFacts? {
    guard let facts = TokenFacts(text) else {
      record("not a token: \(text)", at: time)
      return nil
    }
    if facts.client != key.clientID || facts.subject != subject {
      record("a token of \(facts.client) \(facts.subject) for \(key.clientID) \(subject)", at: time)
    }
    if !key.scopes.description.split(separator: " ").allSatisfy(facts.scopes.contains) {
      record("a token for \(facts.scopes.sorted()) where \(key.scopes) is needed", at: time)
    }
    if let claims, facts.claims != TokenFacts.unquoted(claims) {
      record("a token with the claims \(facts.claims) where \(claims) are needed", at: time)
    }
    sent(facts, by: life, at: time)
    return facts
  }

  /// Judges a token that was judged before, when it is carried once more.
  func sent(_ facts: TokenFacts, by life: ProcessLife, at time: Double) {
    // Whole seconds: the provider's end is rounded down.
    if time < facts.end + 1 {
      calls.served += 1
    } else if !groupsWithWrongClocks.contains(life.group) {
      record("process \(life.number) sends a token \(time - facts.end) s after its end", at: time)
    } else {
      calls.late += 1
    }
  }

  func judgeEnd(at time: Double) {
    if openCalls > 0 { record("\(openCalls) callers wait for ever", at: time) }
  }
}
