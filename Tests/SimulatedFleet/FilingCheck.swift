// Tokens that a process has received must be in its group's cache soon after: the rule of stores.

import Bytes
import Tokens

/// Tokens that have arrived, until they are found in the cache. `@unchecked Sendable`: one thread.
final class FilingCheck: @unchecked Sendable {
  /// Seconds until a token is in the cache after its arrival, and after the end of the cache's trouble.
  private static let limit = 15.0

  /// A token that has arrived, and the number of the refresh token that came with it.
  private struct Receipt {
    var question: ProviderQuestion
    var token: TokenFacts
    var generation: Int?
    var arrival: Double
  }

  private let schedule: Schedule
  private let judge: Judge
  /// The group's document, and the end of its last trouble; infinity while it is in one.
  private let document: () -> CacheDocument
  private let troubledUntil: () -> Double
  private var newest: [String: Receipt] = [:]
  private var lost: [ClosedRange<Double>] = []

  init(
    _ schedule: Schedule, _ judge: Judge, document: @escaping () -> CacheDocument,
    troubledUntil: @escaping () -> Double
  ) {
    (self.schedule, self.judge, self.document, self.troubledUntil) = (schedule, judge, document, troubledUntil)
  }

  /// Follows a token that has arrived at a process.
  func follow(_ question: ProviderQuestion, _ token: TokenFacts, generation: Int?) {
    let receipt = Receipt(question: question, token: token, generation: generation, arrival: schedule.now)
    newest[question.key] = receipt
    check(receipt, at: schedule.now + Self.limit)
  }

  /// Excuses what arrived so shortly before a server without a replica lost its data that no other process has read it.
  /// One that was behind restores the server with what it has.
  func serverLostData(readEvery look: Double) {
    lost.append((schedule.now - look - 2)...schedule.now)
    for receipt in newest.values where isLost(receipt) {
      if let person = receipt.question.person { judge.excuse(person, "its server lost it before others had read it") }
    }
  }

  private func isLost(_ receipt: Receipt) -> Bool { lost.contains { $0.contains(receipt.arrival) } }

  /// Checks the newest tokens once more: a place that was in trouble may have lost what it had.
  func troubleEnded() {
    for key in newest.keys.sorted() { if let receipt = newest[key] { check(receipt, at: schedule.now + Self.limit) } }
  }

  private func check(_ receipt: Receipt, at time: Double) {
    schedule.at(time) { [self] in
      let (now, troubled, process) = (schedule.now, troubledUntil(), receipt.question.process)
      // A process that ends in a trouble takes with it what it could not store, and the token itself may end.
      guard process.isAlive, now < receipt.token.end, !isLost(receipt) else { return }
      if troubled + Self.limit > now {
        return check(receipt, at: troubled < .infinity ? troubled + Self.limit : now + 1)
      }
      let document = document()
      if !judge.hasWrongClock(process), !document.hasToken(as: receipt.token) {
        let key = receipt.question.key
        judge.record(
          "the cache lacks a token for \(key) \(now - receipt.arrival) s after process \(process.number) got it",
          at: now)
      }
      if let person = receipt.question.person, let generation = receipt.generation {
        judge.filed(person, generation, of: receipt.question.client, in: document, at: now)
      }
    }
  }
}

extension CacheDocument {
  /// True if this token is there, or another one for the same, issued later or up to a minute before: a process dates
  /// its token by the first of two requests, if that got no answer.
  fileprivate func hasToken(as token: TokenFacts) -> Bool {
    places.contains { place in
      guard place.section == .accessToken, let text = self[place]?.secret?.revealed(), let held = TokenFacts(text)
      else {
        return false
      }
      return held.client == token.client && held.subject == token.subject && held.scopes.isSuperset(of: token.scopes)
        && held.end >= token.end - 61
    }
  }

  /// The newest generation of a person's refresh token.
  func generation(of person: String, client: String) -> Int? {
    let query = CacheQuery(
      environments: ["login.microsoftonline.com"], realm: SimulatedProvider.tenant, clientID: client,
      homeAccountID: "\(person).\(SimulatedProvider.tenant)")
    return refreshTokens(query).compactMap { Int($0.secret.revealed().split(separator: "~").last ?? "") }.max()
  }
}
