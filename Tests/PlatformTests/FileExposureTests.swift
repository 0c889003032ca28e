// Who can read a file, by its bits and those of the directories above.

import Testing
import TestSupport

@testable import Platform

@Suite struct FileExposureTests {
  @Test func `a file is exposed where it and every directory on the way let everybody in`() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("s", to: "secret")
    let place = String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])
    try await succeed(["chmod", "711", place])
    for (mode, isExposed) in [("600", false), ("640", false), ("604", true), ("644", true)] {
      try await succeed(["chmod", mode, file])
      #expect((FileExposure.mode(of: file) != nil) == isExposed, "mode \(mode)")
    }
    try await succeed(["chmod", "710", place])
    #expect(FileExposure.mode(of: file) == nil)
    #expect(FileExposure.mode(of: directory.file("nothing")) == nil)
  }
}
