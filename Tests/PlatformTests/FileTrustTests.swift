import Glibc
import Testing

@testable import Platform

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
    // Root works in directories of 1000, on files of 1000; another user may have put the file there.
    (S_IFREG | 0o600, 1000, 0, nil),
    (S_IFREG | 0o600, 1001, 0, .ownedBy(1001)),
    (S_IFLNK | 0o777, 1000, 1000, .symbolicLink),
    (S_IFDIR | 0o700, 1000, 1000, .notRegular),
    (S_IFIFO | 0o600, 1000, 1000, .notRegular),
  ]

  @Test(arguments: files)
  func `a file is trusted if no other user can write it`(
    mode: UInt32, owner: UInt32, user: UInt32, problem: FileTrust?
  ) {
    #expect(FileTrust.problem(file: mode, owner: owner, user: user, directoryOwner: 1000) == problem)
  }

  static let directories: [(mode: UInt32, owner: UInt32, user: UInt32, problem: FileTrust?)] = [
    (S_IFDIR | 0o700, 1000, 1000, nil),
    (S_IFDIR | 0o755, 1001, 1000, nil),
    (S_IFDIR | 0o775, 1000, 1000, nil),
    (S_IFDIR | 0o700, 1000, 0, nil),
    (S_IFDIR | 0o1777, 0, 1000, nil),
    (S_IFDIR | 0o1777, 1000, 1000, nil),
    // The owner of a sticky directory can replace its files.
    (S_IFDIR | 0o1777, 1001, 1000, .directoryOwnedBy(1001)),
    (S_IFDIR | 0o1777, 1001, 0, .directoryOwnedBy(1001)),
    (S_IFDIR | 0o1770, 1001, 1000, .directoryOwnedBy(1001)),
    (S_IFDIR | 0o777, 1000, 1000, .directoryWritable(mode: 0o777)),
    (S_IFDIR | 0o702, 0, 0, .directoryWritable(mode: 0o702)),
  ]

  @Test(arguments: directories)
  func `a directory is trusted if no other user can replace its files`(
    mode: UInt32, owner: UInt32, user: UInt32, problem: FileTrust?
  ) {
    #expect(FileTrust.problem(directory: mode, owner: owner, user: user) == problem)
  }

  private typealias Ownership = FileOwnership

  @Test func `a file that root makes in a user's directory is that user's`() {
    let (service, root) = (Ownership(user: 1000, group: 1000), Ownership(user: 0, group: 0))
    #expect(Ownership.ofNewFile(directory: service, user: 0) == service)
    #expect(Ownership.ofNewFile(directory: root, user: 0) == nil)
    #expect(Ownership.ofNewFile(directory: service, user: 1000) == nil)
    #expect(Ownership.ofNewFile(directory: root, user: 1000) == nil)
    #expect(Ownership.ofReplacement(old: service, directory: service, user: 0) == service)
    #expect(Ownership.ofReplacement(old: root, directory: service, user: 0) == service)
    let shared = Ownership(user: 0, group: 50)
    #expect(Ownership.ofReplacement(old: shared, directory: service, user: 0) == Ownership(user: 1000, group: 50))
    #expect(Ownership.ofReplacement(old: root, directory: root, user: 0) == root)
  }
}
