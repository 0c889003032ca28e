import Bytes
import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct OutputFileTests {
  /// Both ends of a pipe.
  private static func makePipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    return (ends[0], ends[1])
  }

  private static func write(_ text: String, to file: OutputFile) {
    Array(text.utf8).withUnsafeBytes { file.write($0) }
  }

  private static func readAll(_ descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(descriptor, &piece, piece.count)
      if count <= 0 { return bytes }
      bytes += piece[..<count]
    }
  }

  @Test func `lines arrive in order, none of them lost`() async throws {
    let ends = try Self.makePipe()
    let file = OutputFile(ends.write)
    async let arrived = onOwnThread { Self.readAll(ends.read) }
    for line in 0..<20_000 { Self.write("\(line)\n", to: file) }
    #expect(try await onOwnThread { file.flush(within: .seconds(240)) })
    close(ends.write)
    let lines = try await String(decoding: arrived, as: UTF8.self).split(separator: "\n")
    #expect(lines == (0..<20_000).map { "\($0)"[...] })
    #expect(file.droppedLines == 0)
    close(ends.read)
  }

  @Test func `for a reader that does not read little is kept, the rest is counted, and the end is not held up`()
    async throws
  {
    let ends = try Self.makePipe()
    let file = OutputFile(ends.write)
    let line = String(repeating: "x", count: 999) + "\n"
    for _ in 0..<10_000 { Self.write(line, to: file) }
    #expect(file.droppedLines > 1000)
    #expect(try await !(onOwnThread { file.flush(within: .milliseconds(100)) }))
    // The reader comes back, and gets whole lines.
    async let arrived = onOwnThread { Self.readAll(ends.read) }
    #expect(try await onOwnThread { file.flush(within: .seconds(240)) })
    close(ends.write)
    let count = try await arrived.count
    #expect(count % 1000 == 0)
    #expect(UInt64(count / 1000) + file.droppedLines == 10_000)
    close(ends.read)
  }

  @Test func `a descriptor that is set to non-blocking gets everything as well`() async throws {
    let ends = try Self.makePipe()
    try #require(fcntl(ends.write, F_SETFL, O_NONBLOCK) == 0)
    let file = OutputFile(ends.write)
    let line = String(repeating: "x", count: 999) + "\n"
    for _ in 0..<500 { Self.write(line, to: file) }
    async let arrived = onOwnThread { Self.readAll(ends.read) }
    #expect(try await onOwnThread { file.flush(within: .seconds(240)) })
    close(ends.write)
    #expect(try await arrived.count == 500_000)
    close(ends.read)
  }

  @Test func `unwritable lines are counted and reported once, and later lines are whole`()
    async throws
  {
    ProcessSignal.ignoreBrokenPipes()
    let directory = try TemporaryDirectory()
    let heard = Locked<[SystemError?]>([])
    let ends = try Self.makePipe()
    // One page: four lines and a part of the fifth.
    // F_SETPIPE_SZ.
    #expect(fcntl(ends.write, 1031, 4096) == 4096)
    let file = OutputFile(ends.write)
    file.onFailure { error in heard.withLock { $0.append(error) } }
    let line = String(repeating: "x", count: 999) + "\n"
    Self.write(String(repeating: line, count: 10), to: file)
    let isFull = try await onOwnThread {
      var count: Int32 = 0
      // Returns early once everything is written, which does not fit.
      while !file.flush(within: .milliseconds(1)), ioctl(ends.read, UInt(FIONREAD), &count) == 0, count < 4096 {}
      return count == 4096
    }
    #expect(isFull)
    close(ends.read)
    #expect(try await onOwnThread { file.flush(within: .seconds(240)) })
    #expect(file.droppedLines == 6)
    #expect(file.failure?.number == EPIPE)
    // A full disk.
    let full = open("/dev/full", O_WRONLY)
    try #require(dup2(full, ends.write) == ends.write)
    for _ in 0..<3 { Self.write("lost\n", to: file) }
    #expect(try await onOwnThread { file.flush(within: .seconds(240)) })
    #expect(file.droppedLines == 9)
    #expect(file.failure?.isOutOfSpace == true)
    let room = open(directory.file("log"), O_WRONLY | O_CREAT, 0o600)
    try #require(dup2(room, ends.write) == ends.write)
    Self.write("kept\n", to: file)
    #expect(try await onOwnThread { file.flush(within: .seconds(240)) })
    #expect(directory.read("log") == "\nkept\n")
    #expect(file.droppedLines == 9 && file.failure == nil)
    #expect(heard.withLock { $0.map { $0?.number } } == [EPIPE, ENOSPC, nil])
    for descriptor in [full, room, ends.write] { close(descriptor) }
  }

  @Test func `a reader that has gone ends nothing`() async throws {
    ProcessSignal.ignoreBrokenPipes()
    let ends = try Self.makePipe()
    close(ends.read)
    let file = OutputFile(ends.write)
    Self.write("nobody reads this\n", to: file)
    #expect(try await onOwnThread { file.flush(within: .seconds(5)) })
    Self.write("nor this\n", to: file)
    #expect(try await onOwnThread { file.flush(within: .seconds(5)) })
    close(ends.write)
  }
}
