// Owns the bytes of lines being made. An array would do the same, but check at each of a line's seventy small appends
// that nobody shares it: half the time of an access record.

/// A growable run of bytes with one owner. It keeps its memory when it is emptied.
struct LineBuffer: ~Copyable, Sendable {
  // Owned by this value alone, which cannot be copied.
  private nonisolated(unsafe) var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  /// Bytes in it.
  private(set) var count = 0

  /// An empty buffer with room for `capacity` bytes.
  init(capacity: Int) {
    self.capacity = max(capacity, 64)
    base = .allocate(capacity: self.capacity)
  }

  deinit {
    base.deallocate()
  }

  /// The bytes for a system call, or to be copied.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    body(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// Forgets the bytes and keeps their memory.
  mutating func removeAll() {
    count = 0
  }

  /// Appends one byte.
  @inline(__always)
  mutating func append(_ byte: UInt8) {
    if count == capacity { grow(by: 1) }
    base[count] = byte
    count += 1
  }

  /// Appends the bytes of a span.
  @inline(__always)
  mutating func append(_ bytes: Span<UInt8>) {
    bytes.withUnsafeBufferPointer { append($0.baseAddress, $0.count) }
  }

  /// Appends a literal.
  @inline(__always)
  mutating func append(_ literal: StaticString) {
    append(literal.utf8Start, literal.utf8CodeUnitCount)
  }

  @inline(__always)
  private mutating func append(_ start: UnsafePointer<UInt8>?, _ length: Int) {
    guard let start else { return }
    if capacity - count < length { grow(by: length) }
    (base + count).update(from: start, count: length)
    count += length
  }

  @inline(never)
  private mutating func grow(by length: Int) {
    let larger = max(capacity * 2, count + length)
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
    memory.update(from: base, count: count)
    base.deallocate()
    base = memory
    capacity = larger
  }
}
