import Bytes
import Glibc
import Testing
import TestSupport

@testable import Platform

@Suite(.timeLimit(.minutes(1)))
struct ReadableFileTests {
  @Test func `a regular file is read whole, up to the limit, links followed`() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("12345", to: "file")
    symlink(file, directory.file("link"))
    for path in [file, directory.file("link")] {
      #expect(try ReadableFile.contents(of: path, limit: 5) == Array("12345".utf8))
      #expect(throws: FileError.tooLarge(limit: 4)) { try ReadableFile.contents(of: path, limit: 4) }
    }
    // A file of the kernel reports a size of 0, but has bytes.
    #expect(try !ReadableFile.contents(of: "/proc/self/stat", limit: 4096).isEmpty)
    #expect(throws: FileError.tooLarge(limit: 3)) { try ReadableFile.contents(of: "/proc/self/stat", limit: 3) }
    #expect(try ReadableFile.contents(of: directory.write("", to: "empty"), limit: 5).isEmpty)
  }

  @Test func `anything but a regular file is refused at once, whatever is at its other end`() throws {
    let directory = try TemporaryDirectory()
    mkfifo(directory.file("pipe"), 0o600)
    let rows: [(String, FileKind)] = [
      (directory.file("pipe"), .pipe), (directory.path, .directory), ("/dev/zero", .device), ("/dev/null", .device),
    ]
    for (path, kind) in rows {
      #expect(throws: FileError.notRegular(kind), "\(path)") { try ReadableFile.contents(of: path, limit: 5) }
      #expect(contentDigest(of: path) == nil)
    }
    #expect(throws: FileError.system(SystemError("open", ENOENT))) {
      try ReadableFile.contents(of: directory.file("none"), limit: 5)
    }
  }

  @Test func `a pipe that may be read is read to its writer's end, bounded, and not longer than the patience`() throws {
    var ends: [Int32] = [0, 0]
    func contents(limit: Int, _ patience: TimeSpan = .seconds(30)) throws -> [UInt8] {
      try ReadableFile.contents(of: "/proc/self/fd/\(ends[0])", limit: limit, orPipeWithin: patience)
    }
    pipe(&ends)
    write(ends[1], "12345", 5)
    close(ends[1])
    #expect(try contents(limit: 5) == Array("12345".utf8))
    close(ends[0])
    pipe(&ends)
    write(ends[1], "12345", 5)
    #expect(throws: FileError.tooLarge(limit: 4)) { try contents(limit: 4) }
    // The writer neither writes nor ends.
    let patience = TimeSpan.milliseconds(30)
    #expect(throws: FileError.unfinished(patience)) { try contents(limit: 5, patience) }
    for end in ends { close(end) }
  }

  @Test func `a named pipe without a writer is told from one whose writer is slow`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("pipe")
    mkfifo(path, 0o600)
    #expect(throws: FileError.unwritten) {
      try ReadableFile.contents(of: path, limit: 5, orPipeWithin: .seconds(600))
    }
    let writer = open(path, O_RDWR)
    defer { close(writer) }
    let patience = TimeSpan.milliseconds(1)
    #expect(throws: FileError.unfinished(patience)) {
      try ReadableFile.contents(of: path, limit: 5, orPipeWithin: patience)
    }
  }

  @Test func `a pipe in the place of a certificate, a key or authorities is refused`() throws {
    let directory = try TemporaryDirectory()
    let pipe = directory.file("pipe")
    mkfifo(pipe, 0o600)
    let refused = TLSConfigurationError.unreadable(path: pipe, .notRegular(.pipe))
    let identity = TLSIdentity(certificatePath: pipe, keyPath: pipe)
    #expect(throws: refused) { try TLSContext.client(trustPath: pipe) }
    #expect(throws: refused) { try TLSContext.client(identity: identity) }
    #expect(throws: refused) { try TLSContext.server(identity) }
  }
}
