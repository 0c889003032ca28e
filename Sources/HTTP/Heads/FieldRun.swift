// The copying of neighbouring field lines in one piece. A head is mostly forwarded as it came, so a handful of copies
// does for thirty lines.

public import Bytes

/// Field lines that are forwarded, gathered as long as they stand next to one another in plain spelling.
///
///     var run = FieldRun()
///     for index in 0..<fields.count where … { run.add(fields[index], from: bytes, into: &buffer) }
///     run.finish(from: bytes, into: &buffer)
public struct FieldRun: Sendable {
  private var start = 0
  private var end = 0

  /// A run of nothing.
  public init() {}

  /// Adds a line behind those before.
  public mutating func add(_ line: FieldLine, from bytes: Span<UInt8>, into buffer: inout ByteBuffer) {
    let lineStart = Int(line.name.start)
    if line.isPlain {
      if lineStart != end {
        finish(from: bytes, into: &buffer)
        start = lineStart
      }
      end = Int(line.value.end) + 2
      return
    }
    finish(from: bytes, into: &buffer)
    HeadWriter.field(line, from: bytes, into: &buffer)
  }

  /// Writes what is still outstanding. To be called before anything else is written.
  public mutating func finish(from bytes: Span<UInt8>, into buffer: inout ByteBuffer) {
    if end > start { buffer.append(bytes.extracting(start..<end)) }
    start = 0
    end = 0
  }
}
