// Failures of the scenery of a test, as opposed to those of its subject.

/// A failure of the scenery: a peer that does not start, a file that is not there, an answer that is no HTTP.
package struct TestSupportError: Error, CustomStringConvertible {
  /// The sentence a reader of the test's output sees.
  package let description: String

  package init(_ sentence: String) { description = sentence }
}
