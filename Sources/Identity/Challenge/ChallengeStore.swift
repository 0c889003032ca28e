// Owns what the memory of challenges asks of a place that several processes share, and the text that stands there.

internal import Tokens

/// Where processes tell one another what sign-ins have to bring, by subject. Losing it loses a convenience.
struct ChallengeStore: Sendable {
  let text: any SharedText

  /// What stands there now; nil where it cannot be read, or not soon.
  func read() async -> [String: SignInNeed]? {
    await text.read().map(ChallengeText.needs)
  }

  /// Changes it; whether that worked. `change` may be applied more than once. A text that is something else is replaced.
  func change(now: UnixTime, _ change: @escaping @Sendable (inout [String: SignInNeed]) -> Void) async -> Bool {
    await text.change { old in
      let known = ChallengeText.needs(old).filter { !$0.value.isOver(at: now) }
      var needs = known
      change(&needs)
      if needs == known { return nil }
      return needs.isEmpty ? [] : ChallengeText.bytes(needs)
    }
  }
}

/// The text of a place: one JSON object.
enum ChallengeText {
  /// Entries kept, the newest first.
  static let entryLimit = 256
  /// Bytes of the longest text that is read, and written.
  static let sizeLimit = 8 << 20

  /// What a text says; nothing where it is something else.
  static func needs(_ text: [UInt8]) -> [String: SignInNeed] {
    guard text.count <= sizeLimit else { return [:] }
    let entries = JSONValue(json: text)?.members?["needs"]?.members ?? [:]
    return entries.compactMapValues { SignInNeed($0) }
  }

  /// As much as would be read again, the newest first: what many hostile upstreams ask for must not push out everything.
  static func bytes(_ needs: [String: SignInNeed]) -> [UInt8] {
    var members: [String: JSONValue] = [:]
    var room = sizeLimit - 64
    for (subject, need) in needs.sorted(by: { $0.value.since > $1.value.since }).prefix(entryLimit) {
      let entry = JSONValue.object([subject: need.json])
      room -= entry.canonicalText().utf8.count
      if room < 0 { break }
      members[subject] = need.json
    }
    return Array((JSONValue.object(["needs": .object(members)]).canonicalText() + "\n").utf8)
  }
}
