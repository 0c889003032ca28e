/// A set of known field names.
public struct FieldNameSet: Sendable {
  @usableFromInline var low: UInt64 = 0
  @usableFromInline var high: UInt64 = 0

  /// No name.
  @inlinable public init() {}

  /// One name.
  @inlinable public init(_ name: FieldName) { insert(name) }

  /// This set and another name. A chain of these is one constant to the compiler, which a list of names would not be.
  @inlinable public func with(_ name: FieldName) -> FieldNameSet {
    var set = self
    set.insert(name)
    return set
  }

  /// The names of both sets.
  @inlinable public func union(_ other: FieldNameSet) -> FieldNameSet {
    var set = self
    set.low |= other.low
    set.high |= other.high
    return set
  }

  /// Adds a name.
  @inlinable public mutating func insert(_ name: FieldName) {
    if name.rawValue < 64 { low |= Self.bit(name) } else { high |= Self.bit(name) }
  }

  /// True if the name is in the set.
  @inlinable public func contains(_ name: FieldName) -> Bool {
    (name.rawValue < 64 ? low : high) & Self.bit(name) != 0
  }

  /// True if every name of this set is in the other one.
  @inlinable public func isSubset(of other: FieldNameSet) -> Bool { low & ~other.low | high & ~other.high == 0 }

  /// True if the two sets have a name in common.
  @inlinable public func intersects(_ other: FieldNameSet) -> Bool { low & other.low | high & other.high != 0 }

  // The place within a word: a masking shift looks at the lower six bits only.
  @inlinable static func bit(_ name: FieldName) -> UInt64 { 1 &<< UInt64(name.rawValue) }
}
