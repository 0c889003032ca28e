// The one growable buffer of the code base. Bytes enter at the end (`append`, or a reader that fills
// `withWritableBytes`) and leave at the front (`consume`). It does no I/O and never shrinks.

/// A contiguous run of bytes with a read and a write position.
///
/// Offsets that callers keep (a head's field ranges) count from the first unread byte, so they stay valid until
/// `consume` is called, also when the storage moves.
///
/// An array would check at each of a log record's seventy small appends that it is not shared.
@safe
public struct ByteBuffer: ~Copyable, Sendable {
  // Owned by this value alone, which cannot be copied.
  @usableFromInline nonisolated(unsafe) var base: UnsafeMutablePointer<UInt8>
  /// Bytes of storage.
  public internal(set) var capacity: Int
  @usableFromInline var readIndex = 0
  @usableFromInline var writeIndex = 0

  /// An empty buffer with room for `capacity` bytes.
  public init(capacity: Int) {
    unsafe base = .allocate(capacity: max(capacity, 1))
    self.capacity = max(capacity, 1)
  }

  deinit {
    unsafe base.deallocate()
  }

  /// Unread bytes.
  @inlinable public var count: Int { writeIndex - readIndex }
  /// True if nothing is left to read.
  @inlinable public var isEmpty: Bool { writeIndex == readIndex }
  /// Bytes that can be appended before the storage is compacted or grown.
  @inlinable public var writableCount: Int { capacity - writeIndex }

  /// The unread bytes.
  public var bytes: Span<UInt8> {
    @_lifetime(borrow self) @inlinable
    get {
      let span = unsafe Span(_unsafeStart: UnsafePointer(base + readIndex), count: writeIndex - readIndex)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Lends the unread bytes to `body`: for buffers stored in classes, whose spans cannot be bound to names.
  @inlinable @inline(__always)
  public func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(bytes)
  }

  /// The unread bytes for a system call. The pointer is valid inside `body` only.
  @inlinable
  public func withReadableBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe body(UnsafeRawBufferPointer(start: base + readIndex, count: writeIndex - readIndex))
  }

  /// Lets `body` write behind the last byte, and adds the count that it returns (0 or less: nothing).
  @inlinable
  public mutating func withWritableBytes(_ body: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
    let written = unsafe body(UnsafeMutableRawBufferPointer(start: base + writeIndex, count: capacity - writeIndex))
    if written > 0 {
      precondition(written <= capacity - writeIndex, "more written than there was room for")
      writeIndex += written
    }
    return written
  }

  /// Drops `count` bytes from the front.
  @inlinable
  public mutating func consume(_ count: Int) {
    precondition(count >= 0 && count <= self.count, "consumed more than is there")
    readIndex += count
    if readIndex == writeIndex {
      readIndex = 0
      writeIndex = 0
    }
  }

  /// Replaces the byte at an offset from the first unread one.
  @inlinable
  public mutating func replace(at offset: Int, with byte: UInt8) {
    precondition(offset >= 0 && offset < count, "replaced what is not there")
    unsafe base[readIndex + offset] = byte
  }

  /// Removes bytes from the end, so that `count` are left to read.
  @inlinable
  public mutating func truncate(to count: Int) {
    precondition(count >= 0 && count <= self.count, "truncated to more than is there")
    writeIndex = readIndex + count
  }

  /// Empties the buffer.
  public mutating func removeAll() {
    readIndex = 0
    writeIndex = 0
  }

  /// Makes room for `count` more bytes: moves the unread bytes to the front, and grows if that is not enough.
  public mutating func reserve(_ count: Int) {
    if capacity - writeIndex >= count { return }
    let unread = self.count
    if capacity - unread >= count {
      unsafe base.update(from: base + readIndex, count: unread)
    } else {
      let grown = max(capacity * 2, unread + count)
      let storage = UnsafeMutablePointer<UInt8>.allocate(capacity: grown)
      unsafe storage.update(from: base + readIndex, count: unread)
      unsafe base.deallocate()
      unsafe base = storage
      capacity = grown
    }
    readIndex = 0
    writeIndex = unread
  }

  /// Appends one byte.
  @inlinable
  public mutating func append(_ byte: UInt8) {
    if writeIndex == capacity { reserve(1) }
    unsafe base[writeIndex] = byte
    writeIndex += 1
  }

  /// Appends two bytes.
  @inlinable
  public mutating func append(_ first: UInt8, _ second: UInt8) {
    if writableCount < 2 { reserve(2) }
    unsafe base[writeIndex] = first
    unsafe base[writeIndex + 1] = second
    writeIndex += 2
  }

  /// Appends the bytes of a span.
  @inlinable
  public mutating func append(_ bytes: Span<UInt8>) {
    if writableCount < bytes.count { reserve(bytes.count) }
    unsafe bytes.withUnsafeBufferPointer { source in
      guard let start = source.baseAddress else { return }
      unsafe (base + writeIndex).update(from: start, count: source.count)
    }
    writeIndex += bytes.count
  }

  /// Appends the bytes of an array.
  public mutating func append(_ bytes: [UInt8]) { append(bytes.span) }

  /// Appends a literal.
  @inlinable
  public mutating func append(_ literal: StaticString) {
    precondition(literal.hasPointerRepresentation, "literals of one scalar have no pointer")
    if writableCount < literal.utf8CodeUnitCount { reserve(literal.utf8CodeUnitCount) }
    unsafe (base + writeIndex).update(from: literal.utf8Start, count: literal.utf8CodeUnitCount)
    writeIndex += literal.utf8CodeUnitCount
  }

  /// Appends a field line: a literal, a colon and a space, the bytes of a span, and the end of the line, with one check
  /// of the room for all four.
  public mutating func append(field name: StaticString, _ value: Span<UInt8>) {
    let (nameCount, valueCount) = (name.utf8CodeUnitCount, value.count)
    if writableCount < nameCount + valueCount + 4 { reserve(nameCount + valueCount + 4) }
    let start = unsafe base + writeIndex
    unsafe start.update(from: name.utf8Start, count: nameCount)
    unsafe start[nameCount] = ASCII.colon
    unsafe start[nameCount + 1] = ASCII.space
    unsafe value.withUnsafeBufferPointer { source in
      guard let first = source.baseAddress else { return }
      unsafe (start + nameCount + 2).update(from: first, count: valueCount)
    }
    unsafe start[nameCount + valueCount + 2] = ASCII.carriageReturn
    unsafe start[nameCount + valueCount + 3] = ASCII.lineFeed
    writeIndex += nameCount + valueCount + 4
  }

  /// Appends a number in decimal.
  public mutating func append(decimal value: UInt64) {
    // Digits come last first; they are collected on the stack and appended at once.
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var start = 20
    var rest = value
    repeat {
      start -= 1
      digits[start] = ASCII.zero + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    append(digits.span.extracting(start..<20))
  }

  /// Appends `digits` lower-case hexadecimal digits, 1 to 16: the low ones of `value`.
  public mutating func append(hexadecimal value: UInt64, digits: Int) {
    precondition(digits >= 1 && digits <= 16, "a 64-bit number has up to 16 digits")
    if writableCount < 16 { reserve(16) }
    // Sixteen are written, the wanted ones first; the others count as free room.
    let aligned = value << UInt64(64 - 4 * digits)
    let start = UnsafeMutableRawPointer(unsafe base + writeIndex)
    let high = ASCII.hexadecimalDigits(UInt32(truncatingIfNeeded: aligned >> 32))
    let low = ASCII.hexadecimalDigits(UInt32(truncatingIfNeeded: aligned))
    unsafe start.storeBytes(of: high.bigEndian, as: UInt64.self)
    unsafe start.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    writeIndex += digits
  }

  /// Appends a number in lower-case hexadecimal (a chunk size, RFC 9112 §7.1).
  public mutating func append(hexadecimal value: UInt64) {
    append(hexadecimal: value, digits: max((67 - value.leadingZeroBitCount) / 4, 1))
  }
}
