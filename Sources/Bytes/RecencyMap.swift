/// A map of at most `limit` values: if it is full, the one that was not used for longest goes. Looking one up makes it
/// the newest and allocates nothing.
@usableFromInline package struct RecencyMap<Key: Hashable, Value> {
  @usableFromInline struct Place {
    @usableFromInline var key: Key
    @usableFromInline var value: Value
    // Neighbours in the order of use; -1 is none.
    @usableFromInline var newer: Int
    @usableFromInline var older: Int

    @inlinable init(key: Key, value: Value, newer: Int, older: Int) {
      self.key = key
      self.value = value
      self.newer = newer
      self.older = older
    }
  }

  @usableFromInline var indices: [Key: Int] = [:]
  @usableFromInline var places: [Place?] = []
  @usableFromInline var free: [Int] = []
  @usableFromInline var newest = -1
  @usableFromInline var oldest = -1
  /// Maximum number of values, at least 1.
  @usableFromInline package var limit: Int

  @inlinable package init(limit: Int) { self.limit = max(limit, 1) }

  @inlinable package var count: Int { indices.count }

  /// The value of a key, which becomes the newest.
  @inlinable package mutating func use(_ key: Key) -> Value? {
    guard let index = indices[key] else { return nil }
    if index != newest {
      unlink(index)
      link(index)
    }
    return places[index]?.value
  }

  /// Stores a value as the newest. Returns the key that was removed for it.
  @inlinable @discardableResult package mutating func keep(_ value: Value, for key: Key) -> Key? {
    if let index = indices[key] {
      places[index]?.value = value
      if index != newest {
        unlink(index)
        link(index)
      }
      return nil
    }
    let evicted = count >= limit ? removeOldest() : nil
    let place = Place(key: key, value: value, newer: -1, older: -1)
    let index: Int
    if let known = free.popLast() {
      index = known
      places[index] = place
    } else {
      index = places.count
      places.append(place)
    }
    indices[key] = index
    link(index)
    return evicted
  }

  /// All keys and values, in no order.
  @inlinable package var elements: [(key: Key, value: Value)] { places.compactMap { $0.map { ($0.key, $0.value) } } }

  /// Replaces the value of a key, if there is one, and leaves the order.
  @inlinable package mutating func replace(_ value: Value, for key: Key) {
    if let index = indices[key] { places[index]?.value = value }
  }

  @inlinable package mutating func remove(_ key: Key) {
    guard let index = indices.removeValue(forKey: key) else { return }
    unlink(index)
    places[index] = nil
    free.append(index)
  }

  /// Removes the key that was not used for longest, and returns it.
  @inlinable package mutating func removeOldest() -> Key? {
    guard oldest >= 0, let key = places[oldest]?.key else { return nil }
    remove(key)
    return key
  }

  @inlinable mutating func unlink(_ index: Int) {
    guard let place = places[index] else { return }
    if place.newer >= 0 { places[place.newer]?.older = place.older } else { newest = place.older }
    if place.older >= 0 { places[place.older]?.newer = place.newer } else { oldest = place.newer }
  }

  @inlinable mutating func link(_ index: Int) {
    places[index]?.newer = -1
    places[index]?.older = newest
    if newest >= 0 { places[newest]?.newer = index } else { oldest = index }
    newest = index
  }
}

extension RecencyMap: Sendable where Key: Sendable, Value: Sendable {}
extension RecencyMap.Place: Sendable where Key: Sendable, Value: Sendable {}
