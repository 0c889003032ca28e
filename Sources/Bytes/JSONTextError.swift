// Owns where a text stops being JSON, in the words of an editor.

/// Why and where a text is not JSON.
public struct JSONTextError: Error, Sendable, Hashable {
  /// What was met.
  public enum Problem: Sendable, Hashable {
    /// The text ends too early.
    case end
    /// A byte that cannot stand there.
    case byte(UInt8)
    /// A string that is not UTF-8.
    case encoding
    /// A number beyond every range.
    case number
    /// Values inside values, more than `JSONReader.depthLimit` of them.
    case depth
    /// The text goes on behind the value.
    case trailing
  }

  /// What was met.
  public var problem: Problem
  /// The line, from 1.
  public var line: Int
  /// The byte in the line, from 1.
  public var column: Int

  /// A problem at a place.
  public init(problem: Problem, line: Int, column: Int) {
    self.problem = problem
    self.line = line
    self.column = column
  }
}
