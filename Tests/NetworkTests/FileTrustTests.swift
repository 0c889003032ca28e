// Which files and directories may hold secrets.

import Glibc
import Testing

@testable import Network

@Suite struct FileTrustTests {
  static let files: [(mode: UInt32, owner: UInt32, user: UInt32, problem: FileTrust?)] = [
    (S_IFREG | 0o600, 1000, 1000, nil),
    (S_IFREG | 0o644, 1000, 1000, nil),
    (S_IFREG | 0o400, 1000, 1000, nil),
    (S_IFREG | 0o620, 1000, 1000, .writable(mode: 0o620)),
    (S_IFREG | 0o602, 1000, 1000, .writable(mode: 0o602)),
    (S_IFREG | 0o666, 0, 0, .writable(mode: 0o666)),
    (S_IFREG | 0o600, 1001, 1000, .ownedBy(1001)),
    (S_IFREG | 0o644, 0, 1000, nil),
    (S_IFREG | 0o600, 1001, 0, nil),
    (S_IFLNK | 0o777, 1000, 1000, .symbolicLink),
    (S_IFDIR | 0o700, 1000, 1000, .notRegular),
    (S_IFIFO | 0o600, 1000, 1000, .notRegular),
  ]

  @Test(arguments: files)
  func `a file is trusted where nobody else can write it`(
    mode: UInt32, owner: UInt32, user: UInt32, problem: FileTrust?
  ) {
    #expect(FileTrust.problem(file: mode, owner: owner, user: user) == problem)
  }

  static let directories: [(mode: UInt32, problem: FileTrust?)] = [
    (S_IFDIR | 0o700, nil),
    (S_IFDIR | 0o755, nil),
    (S_IFDIR | 0o775, nil),
    (S_IFDIR | 0o1777, nil),
    (S_IFDIR | 0o777, .directoryWritable(mode: 0o777)),
    (S_IFDIR | 0o702, .directoryWritable(mode: 0o702)),
  ]

  @Test(arguments: directories)
  func `a directory is trusted where not everybody can replace what is in it`(mode: UInt32, problem: FileTrust?) {
    #expect(FileTrust.problem(directory: mode) == problem)
  }
}
