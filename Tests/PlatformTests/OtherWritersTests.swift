import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite struct `Other writers` {
  /// The way to a file, written as `PATH:MODE:OWNER:GROUP`, of which the last three are `755:0:0` if absent. A link
  /// ends with `@`, the file's name is `f`, and what is mounted read-only has `!` behind it.
  private static func steps(_ way: String) throws -> [PathStep] {
    try way.split(separator: " ").map { word in
      let parts = word.split(separator: ":").map { String($0).replacing("!", with: "") }
      let (path, isLink) = (parts[0].replacing("@", with: ""), parts[0].hasSuffix("@"))
      let kind = isLink ? S_IFLNK : path == "f" ? S_IFREG : S_IFDIR
      let mode = try #require(UInt32(parts.count > 1 ? parts[1] : isLink ? "777" : "755", radix: 8))
      let ids = try parts.dropFirst(2).map { try #require(UInt32($0)) } + [0, 0]
      return PathStep(
        path: path == "f" ? "/f" : path, mode: kind | mode, owner: ids[0], group: ids[1],
        isReadOnly: word.hasSuffix("!"))
    }
  }

  /// Places without other writers, for a process of user 1000 and group 1000, or of root.
  static let honest: [(String, way: String, user: UInt32)] = [
    ("one's own file", "/ /home/a:700:1000 f:600:1000:1000", 1000),
    ("umask 002", "/ /h:775:1000:1000 f:664:1000:1000", 1000),
    ("umask 002, a group of another number that is the process's own", "/ /h:755:998 f:664:998:1000", 998),
    ("root's file", "/ /etc /etc/p f:644", 1000),
    ("root's file of the proxy's group", "/ /etc /etc/p f:640:0:1000", 1000),
    ("a file in /tmp", "/ /tmp:1777 f:600:1000", 1000),
    (
      "a Kubernetes secret: sticky tmpfs, links, root's files",
      "/ /var /var/secrets:1777 /var/secrets/key@ /var/secrets/..data@ /var/secrets/..2026 f:444", 65532
    ),
    ("a Kubernetes secret with fsGroup", "/ /s:3777:0:65532 /s/..data@ f:640:0:65532", 65532),
    (
      "a ConfigMap: a directory for everybody, mounted read-only",
      "/ /etc/p:777! /etc/p/proxy.yaml@! /etc/p/..2026! f:644!", 65532
    ),
    ("systemd's credentials", "/ /run /run/credentials /run/credentials/p.service:500:998! f:440:998!", 998),
    ("a Docker secret", "/ /run /run/secrets f:444", 65532),
    ("a directory that nobody else enters", "/ /root:700 /root/x:777 f:666", 0),
    ("a container's user namespace, in which root has another number", "/:755:65534 /etc:755:65534 f:644:65534", 1000),
  ]

  @Test(arguments: honest)
  func `an honest place has none`(name: String, way: String, user: UInt32) throws {
    #expect(try OtherWriters.find(Self.steps(way), user: user, group: 1000) == nil)
  }

  static let others: [(String, way: String, user: UInt32, OtherWriters.Writer, directory: String?)] = [
    ("everybody's file", "/ /etc /etc/p f:666", 1000, .everybody(mode: 0o666), nil),
    ("everybody's directory", "/ /data:777 f:600:1000", 1000, .everybody(mode: 0o777), "/data"),
    ("everybody's directory high above", "/ /data:777 /data/x f:600", 0, .everybody(mode: 0o777), "/data"),
    ("another's file under root", "/ /srv f:600:1000", 0, .user(1000), nil),
    ("another's directory", "/ /home/b:755:1001 f:600:1000", 1000, .user(1001), "/home/b"),
    ("a group's file", "/ /etc /etc/p f:660:0:50", 1000, .group(50, mode: 0o660), nil),
    ("a group's directory", "/ /srv:775:0:50 f:600", 1000, .group(50, mode: 0o775), "/srv"),
    ("another's link in /tmp", "/ /tmp:1777 /tmp/p@:777:1001 f:600", 1000, .user(1001), nil),
    ("another's directory in /tmp", "/ /tmp:1777 /tmp/p:755:1001 f:600", 0, .user(1001), "/tmp/p"),
    ("everybody's file behind a group's door", "/ /srv:750:0:50 f:666", 1000, .group(50, mode: 0o666), nil),
  ]

  @Test(arguments: others)
  func `users that can write or replace a file`(
    name: String, way: String, user: UInt32, writer: OtherWriters.Writer, directory: String?
  ) throws {
    let found = try OtherWriters.find(Self.steps(way), user: user, group: 1000)
    #expect(found == OtherWriters(writer: writer, directory: directory))
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
