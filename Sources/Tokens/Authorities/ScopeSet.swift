// Owns sets of scopes: their grammar, their one canonical order, and which set covers another. Which scopes an
// authority lets an application ask for is `ScopeRule`'s.

/// Why a text is not a scope set.
public enum ScopeSetError: Error, Sendable, Hashable {
  /// Not a `scope-token` of RFC 6749 §3.3: empty, or holding a space, quote, backslash, control or non-ASCII character.
  case word(String)
}

/// Scopes without order and repetition (RFC 6749 §3.3), kept sorted by code point as the unified cache's `target` is.
///
/// Equality keeps letter case, as identity providers may; covering (`isCovered`) ignores it, as they do in practice.
public struct ScopeSet: Sendable, Hashable, CustomStringConvertible {
  /// The scopes, each once, in ascending order of their bytes.
  public let words: [String]

  /// No scopes: the provider decides.
  public static let none = ScopeSet(validated: [])

  /// The set of these words.
  package init(_ words: some Sequence<String>) throws(ScopeSetError) {
    var unique: Set<String> = []
    for word in words {
      guard Self.isScopeToken(word) else { throw .word(word) }
      unique.insert(word)
    }
    self.init(validated: unique)
  }

  /// The words of a `scope` parameter or a cache's `target`: anything between spaces.
  package init(parameter: String) throws(ScopeSetError) {
    try self.init(parameter.split(separator: " ").map(String.init))
  }

  private init(validated unique: Set<String>) {
    words = unique.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  // scope-token = 1*( %x21 / %x23-5B / %x5D-7E )
  private static func isScopeToken(_ word: String) -> Bool {
    !word.isEmpty && word.utf8.allSatisfy { $0 == 0x21 || (0x23...0x5B).contains($0) || (0x5D...0x7E).contains($0) }
  }

  /// Whether there are none.
  public var isEmpty: Bool { words.isEmpty }

  /// Whether every scope of this set is in `other`, letter case aside: a token for `other` then serves this set.
  package func isCovered(by other: ScopeSet) -> Bool {
    let available = Set(other.words.map { $0.lowercased() })
    return words.allSatisfy { available.contains($0.lowercased()) }
  }

  /// Both sets' scopes.
  package func union(_ other: ScopeSet) -> ScopeSet {
    ScopeSet(validated: Set(words).union(other.words))
  }

  /// The scopes that meet a condition.
  func filtered(_ isIncluded: (String) -> Bool) -> ScopeSet {
    ScopeSet(validated: Set(words.filter(isIncluded)))
  }

  /// The scopes joined by single spaces: a `scope` parameter, a `target`.
  public var description: String { words.joined(separator: " ") }
}
