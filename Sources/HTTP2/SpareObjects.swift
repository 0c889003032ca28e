/// Objects that are of no use now, for those who need one next. Confined to a loop.
@usableFromInline
package struct SpareObjects<Element: AnyObject> {
  @usableFromInline var free: [Element] = []
  @usableFromInline var fewest = 0

  @inlinable package init() {}

  /// An object that its former user has forgotten; nil if there is none.
  @inlinable
  package mutating func take() -> Element? {
    guard let last = free.indices.last, isKnownUniquelyReferenced(&free[last]) else { return nil }
    fewest = min(fewest, last)
    return free.removeLast()
  }

  @inlinable
  package mutating func giveBack(_ element: Element) { free.append(element) }

  /// Drops the objects that were unused since the last call. Returns their number.
  package mutating func sweep() -> Int {
    let unneeded = min(fewest, free.count)
    free.removeLast(unneeded)
    fewest = free.count
    return unneeded
  }

  package mutating func removeAll() { free = [] }
}
