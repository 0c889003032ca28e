// The list of a message's field lines and the bitmap of the names present. Its storage is allocated once and reused for
// every message of a connection.

/// The field lines of one head or trailer section, in order.
@safe
public struct FieldTable: ~Copyable {
  @usableFromInline var base: UnsafeMutablePointer<FieldLine>
  @usableFromInline var capacity: Int
  /// Number of lines.
  public internal(set) var count = 0
  /// The known names that occur.
  @usableFromInline var present = FieldNameSet()

  /// An empty table with room for `capacity` lines.
  init(capacity: Int) {
    unsafe base = .allocate(capacity: max(capacity, 1))
    self.capacity = max(capacity, 1)
  }

  deinit {
    unsafe base.deallocate()
  }

  /// Line `index`, counted from 0.
  @inlinable public subscript(index: Int) -> FieldLine {
    precondition(index >= 0 && index < count, "no such field line")
    return unsafe base[index]
  }

  /// True if there is a line of this name; of `other`, a line of any unknown name.
  @inlinable public func contains(_ name: FieldName) -> Bool { present.contains(name) }

  /// True if there is a line of one of these names.
  @inlinable public func containsAny(of names: FieldNameSet) -> Bool { present.intersects(names) }

  /// True if there is no line of any other name.
  @inlinable public func containsOnly(_ names: FieldNameSet) -> Bool { present.isSubset(of: names) }

  /// The first line of this name.
  @inlinable public func first(_ name: FieldName) -> FieldLine? {
    if !present.contains(name) { return nil }
    for index in 0..<count where unsafe base[index].known == name { return unsafe base[index] }
    return nil
  }

  /// The next line of this name at or behind line `index`: `nil` if there is none.
  @inlinable public func index(of name: FieldName, from index: Int = 0) -> Int? {
    if !present.contains(name) { return nil }
    for candidate in index..<max(index, count) where unsafe base[candidate].known == name { return candidate }
    return nil
  }

  /// The number of lines of this name.
  public func count(of name: FieldName) -> Int {
    if !present.contains(name) { return 0 }
    var found = 0
    for index in 0..<count where unsafe base[index].known == name { found += 1 }
    return found
  }

  /// The first line whose name is `name`, in lower case, for names that `FieldName` does not know.
  public func first(named name: [UInt8], in bytes: Span<UInt8>) -> FieldLine? {
    for index in 0..<count {
      let line = self[index]
      if bytes.extracting(line.name).equalsIgnoringCase(name.span) { return line }
    }
    return nil
  }

  /// The first value of a name, which is in lower case, and the number of its lines.
  package func values(named name: StaticString, in bytes: Span<UInt8>) -> (first: ByteRange, count: Int) {
    var found = (first: ByteRange(), count: 0)
    for index in 0..<count where bytes.extracting(self[index].name).equalsIgnoringCase(name) {
      if found.count == 0 { found.first = self[index].value }
      found.count += 1
    }
    return found
  }

  /// True if the lists of this name have an element, whatever its case.
  func lists(_ name: FieldName, _ element: Span<UInt8>, in bytes: Span<UInt8>) -> Bool {
    for index in 0..<count where self[index].known == name {
      var elements = ListElements(bytes, self[index].value)
      while let place = elements.next() {
        if bytes.extracting(place).equalsIgnoringCase(element) { return true }
      }
    }
    return false
  }

  mutating func append(_ line: FieldLine) {
    if count == capacity { grow() }
    unsafe (base + count).initialize(to: line)
    count += 1
    present.insert(line.known)
  }

  mutating func removeAll() {
    count = 0
    present = FieldNameSet()
  }

  // Only if a parser's limit is higher than its table was made for.
  @inline(never) private mutating func grow() {
    let storage = UnsafeMutablePointer<FieldLine>.allocate(capacity: capacity * 2)
    unsafe storage.moveInitialize(from: base, count: count)
    unsafe base.deallocate()
    unsafe base = storage
    capacity *= 2
  }
}
