/// A text that is not the value that it should be.
package struct UnusableText: Error, Sendable, Hashable {
  /// The reason, in words that read on after the text.
  package let reason: String

  package init(_ reason: String) { self.reason = reason }
}
