import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct FileSetTests {
  private let directory: TemporaryDirectory

  /// A ConfigMap as Kubernetes mounts it: `file` leads through `..data` to the present version.
  init() throws {
    directory = try TemporaryDirectory()
    for version in ["..1", "..2"] {
      mkdir(directory.file(version), 0o755)
      try directory.write(version, to: "\(version)/file")
    }
    symlink("..1", directory.file("..data"))
    symlink("..data/file", directory.file("file"))
  }

  private func swap(to version: String) {
    symlink(version, directory.file("..data_tmp"))
    rename(directory.file("..data_tmp"), directory.file("..data"))
  }

  @Test func `every way of changing a file is another state, and touching its neighbours is none`() throws {
    let path = directory.file("file")
    var state = FileSetState([path])
    func changes(_ change: () throws -> Void) rethrows -> Bool {
      try change()
      defer { state = FileSetState([path]) }
      return state != FileSetState([path])
    }
    #expect(changes { swap(to: "..2") })
    #expect(try changes { try directory.write("longer than before", to: "..2/file") })
    #expect(changes { chmod(directory.file("..2/file"), 0o600) })
    #expect(changes { unlink(directory.file("..2/file")) })
    #expect(try changes { try directory.write("it is back", to: "..2/file") })
    #expect(try !changes { try directory.write("not asked for", to: "..2/other") })
  }

  @Test func `the directory of every link on the way is watched`() {
    let found = directoriesLeading(to: directory.file("file"))
    #expect(found == [directory.path, directory.file("..1")])
    // A missing file will appear in the directory that exists.
    #expect(directoriesLeading(to: directory.file("none/none/none")) == [directory.path])
    symlink("circle", directory.file("circle"))
    #expect(directoriesLeading(to: directory.file("circle")) == [directory.path])
    let here = getcwd(nil, 0)
    defer { free(here) }
    #expect(directoriesLeading(to: "relative") == [here.map { String(cString: $0) }])
  }

  @Test func `the swap of a link, a write in place and a rename are heard`() async throws {
    /// Waits until `change` is reported.
    func hear(_ path: String, _ change: () throws -> Void) async throws {
      let heard = Tally()
      let watch = try DirectoryWatch(paths: [directory.file(path)]) { heard.signal() }
      let before = heard.count
      try change()
      await heard.wait(for: before + 1)
      withExtendedLifetime(watch) {}
    }
    try await hear("file") { swap(to: "..2") }
    try await hear("file") { try directory.write("in place", to: "..2/file") }
    try await hear("plain") {
      try directory.write("new", to: "plain.new")
      rename(directory.file("plain.new"), directory.file("plain"))
    }
  }

  @Test func `a digest is the contents', wherever they are`() throws {
    let first = contentDigest(of: directory.file("..1/file"))
    #expect(first?.count == 32)
    #expect(first == contentDigest(of: directory.file("file")))
    #expect(first != contentDigest(of: directory.file("..2/file")))
    #expect(contentDigest(of: directory.file("none")) == nil)
  }
}
