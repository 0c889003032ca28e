// Copies neighbouring field lines in one piece. A head is mostly forwarded as it came, so a few copies are enough for
// thirty lines.

public import Bytes

/// Field lines that are forwarded, gathered as long as they are neighbours in plain spelling.
///
///     var run = FieldRun()
///     for index in 0..<fields.count where … { run.add(fields[index], from: bytes, into: &buffer) }
///     run.finish(from: bytes, into: &buffer)
public struct FieldRun: Sendable {
  private var start = 0
  private var end = 0

  /// An empty run.
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

  /// Writes the rest. Call it before anything else is written.
  public mutating func finish(from bytes: Span<UInt8>, into buffer: inout ByteBuffer) {
    if end > start { buffer.append(bytes.extracting(start..<end)) }
    start = 0
    end = 0
  }
}
