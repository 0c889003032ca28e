import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite struct `Other writers` {
  typealias Step = OtherWriters.Step

  private static func directory(
    _ path: String, _ mode: UInt32 = 0o755, owner: UInt32 = 0, group: UInt32 = 0, isReadOnly: Bool = false
  ) -> Step {
    Step(path: path, mode: S_IFDIR | mode, owner: owner, group: group, isReadOnly: isReadOnly)
  }

  private static func file(
    _ mode: UInt32, owner: UInt32 = 0, group: UInt32 = 0, isReadOnly: Bool = false
  ) -> Step {
    Step(path: "/f", mode: S_IFREG | mode, owner: owner, group: group, isReadOnly: isReadOnly)
  }

  private static func link(_ path: String, owner: UInt32 = 0, isReadOnly: Bool = false) -> Step {
    Step(path: path, mode: S_IFLNK | 0o777, owner: owner, group: 0, isReadOnly: isReadOnly)
  }

  private static let root = directory("/")
  private static let etc = [root, directory("/etc"), directory("/etc/p")]

  /// Places without other writers, for a process of user 1000 and group 1000, or of root.
  static let honest: [(String, [Step], UInt32)] = [
    ("one's own file", [root, directory("/home/a", 0o700, owner: 1000), file(0o600, owner: 1000, group: 1000)], 1000),
    (
      "umask 002", [root, directory("/h", 0o775, owner: 1000, group: 1000), file(0o664, owner: 1000, group: 1000)], 1000
    ),
    (
      "umask 002, a group of another number that is the process's own",
      [root, directory("/h", 0o755, owner: 998), file(0o664, owner: 998, group: 1000)], 998
    ),
    ("root's file", etc + [file(0o644)], 1000),
    ("root's file of the proxy's group", etc + [file(0o640, group: 1000)], 1000),
    ("a file in /tmp", [root, directory("/tmp", 0o1777), file(0o600, owner: 1000)], 1000),
    (
      "a Kubernetes secret: sticky tmpfs, links, root's files",
      [
        root, directory("/var"), directory("/var/secrets", 0o1777), link("/var/secrets/key"),
        link("/var/secrets/..data"), directory("/var/secrets/..2026"), file(0o444),
      ], 65532
    ),
    (
      "a Kubernetes secret with fsGroup",
      [root, directory("/s", 0o3777, group: 65532), link("/s/..data"), file(0o640, group: 65532)], 65532
    ),
    (
      "a ConfigMap: a directory for everybody, mounted read-only",
      [
        root, directory("/etc/p", 0o777, isReadOnly: true), link("/etc/p/proxy.yaml", isReadOnly: true),
        directory("/etc/p/..2026", isReadOnly: true), file(0o644, isReadOnly: true),
      ], 65532
    ),
    (
      "systemd's credentials",
      [
        root, directory("/run"), directory("/run/credentials"),
        directory("/run/credentials/p.service", 0o500, owner: 998, isReadOnly: true),
        file(0o440, owner: 998, isReadOnly: true),
      ], 998
    ),
    ("a Docker secret", [root, directory("/run"), directory("/run/secrets"), file(0o444)], 65532),
    (
      "a directory that nobody else enters",
      [root, directory("/root", 0o700), directory("/root/x", 0o777), file(0o666)], 0
    ),
    (
      "a container's user namespace, in which root has another number",
      [directory("/", owner: 65534), directory("/etc", owner: 65534), file(0o644, owner: 65534)], 1000
    ),
  ]

  @Test(arguments: honest)
  func `an honest place has none`(name: String, steps: [Step], user: UInt32) {
    #expect(OtherWriters.find(steps, user: user, group: 1000) == nil)
  }

  static let others: [(String, [Step], UInt32, OtherWriters)] = [
    (
      "everybody's file", etc + [file(0o666)], 1000,
      OtherWriters(writer: .everybody(mode: 0o666), directory: nil)
    ),
    (
      "everybody's directory", [root, directory("/data", 0o777), file(0o600, owner: 1000)], 1000,
      OtherWriters(writer: .everybody(mode: 0o777), directory: "/data")
    ),
    (
      "everybody's directory high above", [root, directory("/data", 0o777), directory("/data/x"), file(0o600)], 0,
      OtherWriters(writer: .everybody(mode: 0o777), directory: "/data")
    ),
    (
      "another's file under root", [root, directory("/srv"), file(0o600, owner: 1000)], 0,
      OtherWriters(writer: .user(1000), directory: nil)
    ),
    (
      "another's directory", [root, directory("/home/b", owner: 1001), file(0o600, owner: 1000)], 1000,
      OtherWriters(writer: .user(1001), directory: "/home/b")
    ),
    (
      "a group's file", etc + [file(0o660, group: 50)], 1000,
      OtherWriters(writer: .group(50, mode: 0o660), directory: nil)
    ),
    (
      "a group's directory", [root, directory("/srv", 0o775, group: 50), file(0o600)], 1000,
      OtherWriters(writer: .group(50, mode: 0o775), directory: "/srv")
    ),
    (
      "another's link in /tmp", [root, directory("/tmp", 0o1777), link("/tmp/p", owner: 1001), file(0o600)], 1000,
      OtherWriters(writer: .user(1001), directory: nil)
    ),
    (
      "another's directory in /tmp", [root, directory("/tmp", 0o1777), directory("/tmp/p", owner: 1001), file(0o600)],
      0, OtherWriters(writer: .user(1001), directory: "/tmp/p")
    ),
    (
      "everybody's file behind a group's door", [root, directory("/srv", 0o750, group: 50), file(0o666)], 1000,
      OtherWriters(writer: .group(50, mode: 0o666), directory: nil)
    ),
  ]

  @Test(arguments: others)
  func `users that can write or replace a file`(name: String, steps: [Step], user: UInt32, expected: OtherWriters) {
    #expect(OtherWriters.find(steps, user: user, group: 1000) == expected)
  }

  @Test func `links are followed with every directory on the way`() throws {
    let directory = try TemporaryDirectory()
    let open = directory.file("open")
    #expect(mkdir(open, 0o777) == 0 && chmod(open, 0o777) == 0)
    try directory.write("s", to: "open/real")
    try directory.write("s", to: "safe")
    #expect(symlink("open/../open/real", directory.file("link")) == 0)
    #expect(symlink("link", directory.file("second")) == 0)
    #expect(OtherWriters.find(directory.file("safe")) == nil)
    let found = try #require(OtherWriters.find(directory.file("second")))
    #expect(found.areEverybody && found.directory == open)
    #expect(
      found.description == "is below \(open), which can be written by every user of this machine (mode 0777); "
        + "chmod o-w or +t on \(open) helps")
    #expect(symlink("loop", directory.file("loop")) == 0)
    #expect(OtherWriters.find(directory.file("loop")) == nil && OtherWriters.find(directory.file("gone")) == nil)
    #expect(OtherWriters.find("/dev/null") == nil && OtherWriters.find("") == nil)
  }
}
