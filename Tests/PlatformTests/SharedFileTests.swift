import Bytes
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite struct SharedFileTests {
  let directory: TemporaryDirectory
  let file: SharedFile

  init() throws {
    directory = try TemporaryDirectory()
    file = SharedFile(path: directory.file("cache.json"))
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
  }

  @Test func `a file that is not there is nothing, and no error`() throws {
    #expect(try file.identity() == nil)
    #expect(try file.read() == nil)
  }

  @Test func `a written file is read back, has mode 0600, and leaves nothing beside it`() throws {
    let identity = try file.replace(with: Array("one".utf8), old: nil)
    let contents = try #require(try file.read())
    #expect(contents.bytes == Array("one".utf8))
    #expect(contents.identity == identity)
    #expect(identity.mode & 0o7777 == 0o600)
    #expect(try names == ["cache.json"])
  }

  @Test func `a replacement keeps the mode, and is another file`() throws {
    try directory.write("old", to: "cache.json")
    chmod(file.path, 0o640)
    let old = try #require(try file.identity())
    let new = try file.replace(with: Array("new".utf8), old: old)
    #expect(new.mode & 0o7777 == 0o640)
    #expect(!new.isSameFile(as: old))
  }

  @Test func `a replacement is dated a moment ahead, for readers that look at times`() throws {
    let before = WallTime.now
    let identity = try file.replace(with: [0x7B, 0x7D], old: nil)
    #expect(WallTime.now.advanced(by: .milliseconds(500)).age(at: identity.modified) == .zero)
    #expect(identity.modified.age(at: before) == .zero)
    #expect(WallTime.now.age(at: identity.modified) > .zero)
  }

  @Test func `a killed writer's temporary file is no obstacle and is removed`() throws {
    try directory.write("half a docu", to: ".cache.json.bearer-proxy")
    _ = try file.replace(with: [0x7B, 0x7D], old: nil)
    #expect(try names == ["cache.json"])
  }

  @Test func `a symbolic link is refused, wherever it leads`() throws {
    try directory.write("{}", to: "elsewhere")
    symlink(directory.file("elsewhere"), file.path)
    #expect(throws: FileError.untrusted(.symbolicLink)) { try file.identity() }
    #expect(throws: FileError.untrusted(.symbolicLink)) { try file.read() }
  }

  @Test func `a pipe is refused, and not waited for`() throws {
    mkfifo(file.path, 0o600)
    #expect(throws: FileError.untrusted(.notRegular)) { try file.read() }
  }

  @Test func `a file that others can write is refused`() throws {
    try directory.write("{}", to: "cache.json")
    chmod(file.path, 0o606)
    #expect(throws: FileError.untrusted(.writable(mode: 0o606))) { try file.read() }
  }

  @Test func `a directory that every user can write is refused, unless only owners may remove there`() throws {
    chmod(directory.path, 0o777)
    #expect(throws: FileError.untrusted(.directoryWritable(mode: 0o777))) { try file.read() }
    #expect(throws: FileError.untrusted(.directoryWritable(mode: 0o777))) {
      try file.replace(with: [0x7B, 0x7D], old: nil)
    }
    chmod(directory.path, 0o1777)
    #expect(try file.read() == nil)
  }

  @Test func `a directory that is not there is said to be missing`() {
    #expect(throws: FileError.noDirectory) {
      try SharedFile(path: directory.file("nowhere/cache.json")).identity()
    }
  }
}
