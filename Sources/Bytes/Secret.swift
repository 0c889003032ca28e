// The bytes of one secret: client secrets, tokens, rendered header values. They are not printed by accident, and are
// wiped with the last reference. Copies that decoders or callers made are not wiped.

/// Bytes that must not appear in a log, an error, a description or a later owner's memory.
///
/// Every textual form, mirrors included, is `[secret]`. Comparing two secrets of one length takes the same time
/// wherever they differ. There is no hash: a key holds a credential's version, not the credential.
@safe
public final class Secret: Sendable {
  // Written in the initialiser only, before a second reference exists, and wiped in deinit, when none is left.
  private nonisolated(unsafe) let storage: UnsafeMutableBufferPointer<UInt8>

  /// A secret of these bytes.
  public init(_ bytes: some Collection<UInt8>) {
    unsafe storage = .allocate(capacity: bytes.count)
    _ = unsafe storage.initialize(from: bytes)
  }

  /// A copy of bytes.
  public init(copying bytes: Span<UInt8>) {
    unsafe storage = .allocate(capacity: bytes.count)
    unsafe bytes.withUnsafeBufferPointer { source in _ = unsafe storage.initialize(from: source) }
  }

  /// A secret of a text's UTF-8.
  public convenience init(_ text: String) {
    self.init(text.utf8)
  }

  /// A secret behind a public prefix, such as a scheme.
  public convenience init(prefix: StaticString, _ secret: Secret) {
    let tail = secret.bytes
    unsafe self.init(prefix: UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount), tail)
  }

  private init(prefix: UnsafeBufferPointer<UInt8>, _ tail: Span<UInt8>) {
    unsafe storage = .allocate(capacity: prefix.count + tail.count)
    for index in 0..<prefix.count { unsafe storage.initializeElement(at: index, to: prefix[index]) }
    for index in tail.indices { unsafe storage.initializeElement(at: prefix.count + index, to: tail[index]) }
  }

  deinit {
    unsafe Self.wipe(storage)
    unsafe storage.deallocate()
  }

  // An optimiser that sees the memory being freed next would drop the stores. It may not look into this function, and
  // the optimised function that does the work is reached through it alone.
  @_optimize(none) @inline(never)
  private static func wipe(_ storage: UnsafeMutableBufferPointer<UInt8>) { unsafe zero(storage) }

  @inline(never)
  private static func zero(_ storage: UnsafeMutableBufferPointer<UInt8>) {
    var index = 0
    while index < storage.count {
      unsafe storage[index] = 0
      index += 1
    }
  }

  /// Bytes held.
  public var count: Int { unsafe storage.count }
  /// True if there are none.
  public var isEmpty: Bool { count == 0 }

  /// The bytes, to be written to the secret's destination and nowhere else.
  public var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let span = unsafe Span(_unsafeElements: UnsafeBufferPointer(storage))
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// The bytes as text, invalid UTF-8 repaired. The copy is not wiped: for rendering a request, or on a user's demand.
  public func revealed() -> String {
    unsafe String(decoding: UnsafeBufferPointer(storage), as: UTF8.self)
  }
}

extension Secret: Equatable {
  /// Compares the bytes in a time that depends on their number only.
  public static func == (left: Secret, right: Secret) -> Bool { left.matches(right.bytes) }

  /// The same for bytes that are not in a `Secret`.
  package func matches(_ bytes: Span<UInt8>) -> Bool {
    let own = self.bytes
    guard own.count == bytes.count else { return false }
    var difference: UInt8 = 0
    for index in own.indices { difference |= own[index] ^ bytes[index] }
    return difference == 0
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// `[secret]`, whatever the bytes.
  public var description: String { "[secret]" }
  /// `[secret]`, whatever the bytes.
  public var debugDescription: String { "[secret]" }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
