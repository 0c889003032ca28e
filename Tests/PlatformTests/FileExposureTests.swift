import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite struct FileExposureTests {
  @Test func `a file is exposed if it and every directory on the way let every user in`() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("s", to: "secret")
    let place = String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])
    #expect(chmod(place, 0o711) == 0)
    for (mode, isExposed) in [(mode_t(0o600), false), (0o640, false), (0o604, true), (0o644, true)] {
      #expect(chmod(file, mode) == 0)
      #expect((FileExposure.mode(of: file) != nil) == isExposed, "mode \(String(mode, radix: 8))")
    }
    #expect(chmod(place, 0o710) == 0)
    #expect(FileExposure.mode(of: file) == nil)
    #expect(FileExposure.mode(of: directory.file("nothing")) == nil)
  }

  @Test func `a read-only file system in memory is an orchestrator's`() {
    let (tmpfs, ramfs, ext4): (UInt64, UInt64, UInt64) = (0x0102_1994, 0x8584_58F6, 0xEF53)
    #expect(FileExposure.isProvided(type: tmpfs, isReadOnly: true))
    #expect(FileExposure.isProvided(type: ramfs, isReadOnly: true))
    #expect(!FileExposure.isProvided(type: tmpfs, isReadOnly: false))
    #expect(!FileExposure.isProvided(type: ext4, isReadOnly: true))
  }
}
