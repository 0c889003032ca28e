// Attacks through the files around a proxy: pipes in their place, other users' files, files that every user can read;
// and a root proxy's treatment of others' files.

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(3)))
struct FileSafetyTests {
  private static let listener = "listeners: [{address: 127.0.0.1:0}]\n"
  private static let route = "routes: [{name: r, path: /, upstream: \"http://127.0.0.1:1/\", token: none}]\n"
  private static let service: UInt32 = 65534
  private static let stranger: UInt32 = 65533

  private func asUser(_ user: UInt32) -> [String] {
    ["setpriv", "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups"]
  }

  private func owner(_ path: String) -> UInt32? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_uid : nil
  }

  private func check(_ file: String) async throws -> CommandResult { try await run([binary(), "check", "-c", file]) }

  @Test func `a pipe in the place of a secret is refused at once, and a running proxy still obeys`() async throws {
    let directory = try TemporaryDirectory()
    let secret = try directory.write("a-secret-in-a-file", to: "secret")
    let text = """
      applications: {contoso: {authority: "http://127.0.0.1:\(try freePort())", client_id: x, client_secret_file: \
      secret}}
      routes: [{name: r, path: /, upstream: "http://127.0.0.1:1/", application: contoso, token: {as: application, \
      scopes: [a.b]}}]
      """
    let proxy = try await ProxyUnderTest(in: directory, text)
    unlink(secret)
    mkfifo(secret, 0o600)
    let refused = try await check(proxy.configuration)
    #expect(refused.status == 2)
    #expect(refused.errors.contains("client_secret_file: cannot read \(secret): it is a pipe, not a regular file"))
    proxy.process.send(SIGHUP)
    #expect(try await eventually { proxy.process.errors.contains("it is a pipe, not a regular file") })
    #expect(try await proxy.admin("/status").body.contains("it is a pipe, not a regular file"))
    // And with the file back, all is as it was.
    unlink(secret)
    try directory.write("another-secret-in-a-file", to: "secret")
    #expect(try await eventually { proxy.process.errors.contains("configuration reloaded") })
    #expect(try await proxy.process.end() == 0)
  }

  @Test(arguments: [
    "listeners: [{address: 127.0.0.1:0, tls: {certificate_file: pipe, key_file: pipe}}]",
    "defaults: {tls: {ca_file: pipe}}",
    "applications: {x: {authority: \"https://id.example\", client_id: x, tls: {ca_file: pipe}, client_secret: s3cret}}",
    "cache: {file: pipe}", "log: {access_file: pipe}",
  ])
  func `a pipe in the place of any other file holds nothing up`(fragment: String) async throws {
    let directory = try TemporaryDirectory()
    mkfifo(directory.file("pipe"), 0o600)
    let listener = fragment.hasPrefix("listeners") ? "" : Self.listener
    let file = try directory.write(listener + Self.route + fragment, to: "proxy.yaml")
    let result = try await run([binary(), "run", "-c", file])
    #expect(result.status == 2 && result.errors.contains("\(directory.file("pipe"))"), "\(result.errors)")
  }

  @Test func `check reads a configuration from a pipe, and run wants one that it can read again`() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write(Self.listener + Self.route, to: "proxy.yaml")
    let piped = try await run(["bash", "-c", "\"$0\" check -c <(cat \"$1\")", binary(), file])
    #expect(piped.status == 0 && piped.output.contains("ok (1 route"))
    let served = try await run(["bash", "-c", "\"$0\" run -c <(cat \"$1\")", binary(), file])
    #expect(served.status == 2)
    #expect(served.errors.contains("cannot read the configuration: it is a pipe, not a regular file"))
  }

  @Test(.enabled(if: geteuid() == 0, "not run: takes root, to make files of other users"))
  func `root takes no cache of another user, and none from a shared directory of another user`() async throws {
    let directory = try TemporaryDirectory()
    mkdir(directory.file("shared"), 0o700)
    let shared = directory.file("shared")
    let file = try directory.write(Self.listener + Self.route + "cache: {file: shared/cache.json}\n", to: "proxy.yaml")
    let cache = try directory.write("{}", to: "shared/cache.json")
    chown(cache, Self.stranger, Self.stranger)
    let planted = try await check(file)
    #expect(planted.status == 2)
    #expect(planted.errors.contains("\(cache) belongs to another user (uid \(Self.stranger)); run as that user"))
    #expect(owner(cache) == Self.stranger && textOfFile(cache) == "{}")
    unlink(cache)
    chown(shared, Self.stranger, Self.stranger)
    chmod(shared, 0o1777)
    let sticky = try await check(file)
    #expect(sticky.status == 2 && sticky.errors.contains("is in a shared directory of another user"))
    // The service's own directory, and root's shared one, are fine.
    chmod(shared, 0o700)
    #expect(try await check(file).status == 0)
    chown(shared, 0, 0)
    chmod(shared, 0o1777)
    #expect(try await check(file).status == 0)
  }

  @Test(.enabled(if: geteuid() == 0, "not run: takes root, to make files of other users"))
  func `another user's lock file beside the cache is refused at the start, with the reason`() async throws {
    let directory = try TemporaryDirectory()
    mkdir(directory.file("shared"), 0o700)
    chmod(directory.file("shared"), 0o1777)
    let file = try directory.write(Self.listener + Self.route + "cache: {file: shared/cache.json}\n", to: "proxy.yaml")
    chmod(file, 0o644)
    let program = try await publicBinary(in: directory)
    for end in [".lockfile", ".refreshlock", ".challenges", ".challenges.lockfile"] {
      let name = "cache.json\(end)"
      let laid = try directory.write("1 other", to: "shared/" + name)
      chown(laid, Self.stranger, Self.stranger)
      for user in [0, Self.service] {
        let result = try await run(asUser(user) + [program, "run", "-c", file])
        #expect(result.status == 2)
        #expect(
          result.errors.contains("\(name) beside it belongs to another user (uid \(Self.stranger)); remove that file"),
          "\(result.errors)")
      }
      unlink(laid)
    }
    #expect(try await check(file).status == 0)
  }

  @Test(.enabled(if: geteuid() == 0, "not run: takes root, to run commands beside a service of another user"))
  func `files that root's commands make are usable by the service`() async throws {
    let directory = try TemporaryDirectory()
    let provider = try await OpenIDProvider(in: directory)
    mkdir(directory.file("state"), 0o700)
    chown(directory.file("state"), Self.service, Self.service)
    let file = try directory.write(
      Self.listener + """
        cache: {file: state/cache.json}
        log: {access_file: state/access.log}
        applications:
          contoso: {authority: "\(provider.issuer)", client_id: \(OpenIDProvider.client), client_secret: \
        "\(OpenIDProvider.secret)"}
        routes:
          - {name: orders, path: /, upstream: "http://127.0.0.1:1/", application: contoso, token: {as: application, \
        scopes: [orders.read]}}
        """, to: "proxy.yaml")
    chown(file, Self.service, Self.service)
    let command = [try await publicBinary(in: directory), "token", "-c", file, "--route", "orders"]
    #expect(try await run(command).status == 0)
    _ = try await run([binary(), "check", "-c", file, "--live"])
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.file("state"))
    #expect(Set(names).isSuperset(of: ["cache.json", "cache.json.refreshlock"]))
    for name in names { #expect(owner(directory.file("state/\(name)")) == Self.service, "\(name)") }
    // The service reads what is there, and writes it.
    #expect(try await run(asUser(Self.service) + command).status == 0)
    unlink(directory.file("state/cache.json"))
    #expect(try await run(asUser(Self.service) + command).status == 0)
    #expect(try await run(command).status == 0)
    #expect(owner(directory.file("state/cache.json")) == Self.service)
  }

  @Test(.enabled(if: geteuid() == 0, "not run: takes root, whose capabilities are dropped"))
  func `as root it warns, and no thread keeps a capability that it does not need`() async throws {
    let scene = try await ScriptedScene()
    #expect(try await scene.proxy.get("/seen").status == 200)
    #expect(scene.proxy.process.errors.contains("\"message\":\"running as root\""))
    let process = "/proc/\(scene.proxy.process.identifier)"
    // chown, dac_override, dac_read_search, fowner (capabilities(7)): for the files of others. No low port is listened
    // at.
    let needed: UInt64 = 0b1111
    for thread in try FileManager.default.contentsOfDirectory(atPath: "\(process)/task") {
      for line in textOfFile("\(process)/task/\(thread)/status").split(separator: "\n") where line.hasPrefix("Cap") {
        let mask = try #require(line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) })
        #expect(mask & ~needed == 0, "\(line) of thread \(thread)")
      }
    }
  }
}
