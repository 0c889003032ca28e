/// A value that only tasks on its loop may touch, in a box that may go anywhere.
/// `@unchecked Sendable`: `value` asserts in debug builds that the caller runs on the loop, so only one thread uses it.
public struct Confined<Value>: @unchecked Sendable {
  /// The loop the value belongs to.
  public let loop: EventLoop
  private let stored: Value

  /// Confines `value` to `loop`. The caller must not keep it elsewhere.
  public init(_ value: sending Value, to loop: EventLoop) {
    self.loop = loop
    stored = value
  }

  /// The value; call on the loop.
  public var value: Value {
    @inline(__always) get {
      loop.assertOnLoop()
      return stored
    }
  }
}
