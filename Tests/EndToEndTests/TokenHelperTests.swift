// `token --format`: git, and commands by hand, with the running proxy's token.

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(3)))
struct TokenHelperTests {
  private let directory: TemporaryDirectory
  private let provider: OpenIDProvider
  private let server: Int
  private let nginx: ChildProcess
  private let file: String
  /// The port for requests that are forwarded.
  private let port: Int

  /// A provider, and a server of git repositories that demands a token: at `/bearer/` by Bearer, at `/basic/` as the
  /// password of `oauth2`.
  init() async throws {
    directory = try TemporaryDirectory()
    provider = try await OpenIDProvider(in: directory)
    server = try freePort()
    let repository = directory.file("repo.git")
    let git = ["git", "-C", directory.path, "-c", "user.name=a", "-c", "user.email=a@b.example"]
    for words in [["init", "-q", "work"], ["-C", "work", "commit", "-q", "--allow-empty", "-m", "first"]] {
      try await succeed(git + words)
    }
    try await succeed(git + ["clone", "-q", "--bare", "work", repository])
    try await succeed(["git", "-C", repository, "update-server-info"])
    nginx = try await TestSupport.nginx(
      serving: """
        server {
          listen 127.0.0.1:\(server);
          location /bearer/ {
            if ($http_authorization !~ "^Bearer ey.+$") { return 401 "who?"; }
            alias \(directory.path)/;
          }
          location /basic/ {
            add_header WWW-Authenticate 'Basic realm="git"' always;
            if ($http_authorization !~ "^Basic b2F1dGgyOm.+$") { return 401 "who?"; }
            alias \(directory.path)/;
          }
        }
        """, at: server, in: directory)
    port = try freePort()
    file = try directory.write(
      """
      listeners: [{address: "127.0.0.1:\(port)"}]
      admin: {address: "unix:\(directory.file("admin.sock"))"}
      cache: {memory: true}
      \(application(provider.issuer))
      routes:
        - name: git
          path: /git/
          upstream: http://127.0.0.1:\(server)/
          application: contoso
          token: {as: application, scopes: [orders.read]}
        - {name: person, path: /person/, upstream: "http://127.0.0.1:1/", application: contoso, token: {scopes: [a]}}
        - {name: open, path: /open/, upstream: "http://127.0.0.1:1/", token: none}
      """, to: "proxy.yaml")
    chmod(file, 0o600)
  }

  private func proxy() async throws -> ChildProcess {
    let proxy = try ChildProcess("bearer-proxy", [binary(), "run", "-c", file], in: directory)
    let socket = directory.file("admin.sock")
    #expect(try await eventually { access(socket, F_OK) == 0 })
    return proxy
  }

  private func token(_ words: [String], route: String = "git", input: String? = nil) async throws -> CommandResult {
    let input = try input.map { try directory.write($0, to: "input") } ?? "/dev/null"
    return try await run([binary(), "token", "-c", file, "--route", route, "--format"] + words, input: input)
  }

  @Test func `git reaches a server by a field of its configuration, and by the protocol for credentials`() async throws
  {
    let proxy = try await proxy()
    let plain = try await token(["plain"])
    #expect(plain.status == 0 && plain.output.hasPrefix("ey") && plain.output.hasSuffix("\n"), "\(plain.errors)")
    let alone = ["git", "-C", directory.path, "-c", "credential.helper="]
    let bearer = "http://127.0.0.1:\(server)/bearer/repo.git"
    let field = "http.extraHeader=Authorization: Bearer \(plain.output.dropLast())"
    #expect(try await run(alone + ["ls-remote", bearer]).status != 0)
    #expect(try await run(alone + ["-c", field, "ls-remote", bearer]).output.contains("HEAD"))
    let helper = "credential.helper=!\(try binary()) token -c \(file) --route git --format git"
    let basic = try await run(
      alone + ["-c", helper, "ls-remote", "http://127.0.0.1:\(server)/basic/repo.git"],
      environment: ["GIT_TERMINAL_PROMPT": "0"])
    #expect(basic.status == 0 && basic.output.contains("HEAD"), "\(basic.errors)")
    // git 2.46 and newer say that they know other schemes.
    let newer = try await token(
      ["git", "get"], input: "capability[]=authtype\nprotocol=http\nhost=127.0.0.1:\(server)\n\n")
    #expect(newer.output.hasPrefix("capability[]=authtype\nauthtype=Bearer\ncredential=ey"))
    for lines in ["protocol=http\nhost=evil.example\n\n", ""] {
      let other = try await token(["git", "get"], input: lines)
      #expect(other.status == 0 && other.output == "")
    }
    for operation in ["store", "erase"] {
      let kept = try await token(["git", operation], input: "protocol=http\nhost=127.0.0.1:\(server)\n\n")
      #expect(kept.status == 0 && kept.output == "")
    }
    let metrics = try await curl([
      "--unix-socket", directory.file("admin.sock"), "http://localhost/metrics",
    ]).body
    // Each is counted, by the program it is for.
    let counted = metrics.split(separator: "\n").filter { $0.hasPrefix("bearer_proxy_tokens_handed_out_total{") }
    #expect(
      counted.contains(#"bearer_proxy_tokens_handed_out_total{program="plain",route="git"} 1"#)
        && counted.contains { $0.hasPrefix(#"bearer_proxy_tokens_handed_out_total{program="git",route="git"} "#) },
      "\(counted)")
    #expect(!metrics.contains(plain.output.dropLast()))
    #expect(try await proxy.end() == 0)
    #expect(!proxy.errors.contains(plain.output.dropLast()))
  }

  /// git says from 2.46 on that it knows other schemes than Basic.
  private func knowsBearer() async throws -> Bool {
    let words = try await succeed(["git", "version"]).split(separator: " ")
    let numbers = (words.count > 2 ? words[2] : "").split(separator: ".").compactMap { Int($0) }
    return numbers.count > 1 && (numbers[0], numbers[1]) >= (2, 46)
  }

  @Test func `git clones from a server that demands Bearer, and pushes to it`() async throws {
    let server = try ChildProcess(
      "git-server", peer("git_server.py", ["--provider", provider.issuer, "--root", directory.path]), in: directory)
    let address = "http://127.0.0.1:\(try await announcedPort(of: server))"
    let text = textOfFile(file).replacing("http://127.0.0.1:\(self.server)/", with: address + "/")
    try Data(text.utf8).write(to: URL(filePath: file))
    let proxy = try await proxy()
    try await waitForPort(port, of: proxy)
    let token = try await token(["plain"]).output.dropLast()
    var ways = [
      ("field", address, ["-c", "http.extraHeader=Authorization: Bearer \(token)"]),
      ("proxy", "http://127.0.0.1:\(port)/git", []),
    ]
    if try await knowsBearer() {
      let helper = "credential.helper=!\(try binary()) token -c \(file) --route git --format git"
      ways.append(("helper", address, ["-c", helper]))
    }
    let alone =
      ["git", "-C", directory.path, "-c", "credential.helper="] + ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    let quiet = ["GIT_TERMINAL_PROMPT": "0"]
    // The helper in the protocol of a git that knows Bearer, if this machine has an older one.
    let spoken = try await succeed(
      peer("git_bearer.py", ["\(address)/repo.git", "\(try binary()) token -c \(file) --route git --format git"]))
    #expect(spoken == "status 200\n")
    let refused = try await run(alone + ["clone", "\(address)/repo.git", "refused"], environment: quiet)
    #expect(refused.status != 0)
    for (name, origin, options) in ways {
      let git = alone + options
      let clone = try await run(git + ["clone", "-q", "\(origin)/repo.git", name], environment: quiet)
      #expect(clone.status == 0, "\(name): \(clone.errors)")
      // More than a pipe or a buffer takes.
      _ = try directory.write((0..<40_000).map { "\($0) \(name)\n" }.joined(), to: "\(name)/file-\(name)")
      try await succeed(git + ["-C", name, "add", "."])
      try await succeed(git + ["-C", name, "commit", "-q", "-m", name])
      let push = try await run(
        git + ["-C", name, "push", "-q", "origin", "HEAD:refs/heads/\(name)"], environment: quiet)
      #expect(push.status == 0, "\(name): \(push.errors)")
    }
    let branches = try await succeed(["git", "-C", directory.file("repo.git"), "branch"])
    for (name, _, _) in ways { #expect(branches.contains(name), "\(branches)") }
    #expect(server.output.contains("request 200 POST /repo.git/git-receive-pack"))
    #expect(try await proxy.end() == 0)
  }

  @Test func `git gets on with renewals, an outage, a reload and a restart`() async throws {
    let other = try await OpenIDProvider(in: directory, ["--expires-in", "20"])
    let text = textOfFile(file).replacing(provider.issuer, with: other.issuer)
    try Data(text.utf8).write(to: URL(filePath: file))
    var proxy = try await proxy()
    let helper = "credential.helper=!\(try binary()) token -c \(file) --route git --format git"
    func list() async throws -> CommandResult {
      try await run(
        [
          "git", "-C", directory.path, "-c", "credential.helper=", "-c", helper, "ls-remote",
          "http://127.0.0.1:\(server)/basic/repo.git",
        ], environment: ["GIT_TERMINAL_PROMPT": "0"])
    }
    let first = try await token(["plain"]).output
    #expect(try await list().status == 0)
    // The next token comes before the first has ended.
    #expect(
      try await eventually {
        let next = try await token(["plain"])
        return next.status == 0 && next.output != first
      })
    #expect(try await list().status == 0)
    try await other.behave(#"{"status": 503, "endpoint": "token"}"#)
    #expect(try await eventually { try await token(["plain"]).status == 1 })
    let away = try await list()
    #expect(away.status != 0 && away.errors.contains("no token for route 'git': "), "\(away.errors)")
    try await other.behave("{}")
    #expect(try await eventually { try await token(["plain"]).status == 0 })
    try Data(text.replacing("scopes: [orders.read]", with: "scopes: [orders.write]").utf8).write(
      to: URL(filePath: file))
    #expect(try await eventually { try await list().status == 0 })
    #expect(try await proxy.end() == 0)
    #expect(try await list().status != 0)
    proxy = try await self.proxy()
    #expect(try await eventually { try await list().status == 0 })
    #expect(try await proxy.end() == 0)
  }

  @Test func `kubectl, docker and scripts get their forms`() async throws {
    let proxy = try await proxy()
    let kubectl = try await token(["kubectl"])
    #expect(kubectl.output.hasPrefix(#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","#))
    let json = try await token(["json"])
    #expect(json.output.contains(#""token_type":"Bearer""#))
    let docker = try await token(["docker", "get"], input: "http://127.0.0.1:\(server)\n")
    #expect(docker.output.hasPrefix(#"{"Secret":"ey"#))
    let other = try await token(["docker", "get"], input: "registry.example\n")
    #expect(other.status == 1 && other.output == "credentials not found in native keychain\n")
    #expect(try await token(["docker", "list"]).output == "{}\n")
    if getuid() == 0 {
      // The kernel tells which user connects.
      let socket = directory.file("admin.sock")
      for place in [directory.path, socket] { chmod(place, 0o777) }
      let answers = try await python(
        """
        import os, socket, sys
        os.setgid(65534); os.setuid(65534)
        s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
        for path in ["/token?route=git", "/status"]:
            s.send(f"GET {path} HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n".encode())
            print(s.recv(65536).split(b" ")[1].decode())
        """, [socket])
      #expect(answers == "403\n200\n")
    }
    try await proxy.stop()
  }

  @Test func `the reason is on standard error, with status 3 if a person must sign in`() async throws {
    let before = try await token(["plain"])
    #expect(before.status == 1 && before.output == "" && before.errors.contains("no instance answers at "))
    let proxy = try await proxy()
    let person = try await token(["plain"], route: "person")
    #expect(person.status == 3 && person.output == "")
    #expect(person.errors.contains("no token for route 'person': "), "\(person.errors)")
    let open = try await token(["plain"], route: "open")
    #expect(open.status == 1 && open.errors.contains("no_token: the route has no token of its own"))
    #expect(try await token(["plain"], route: "missing").status == 2)
    // A terminal shows what is written to it.
    let shown = try await run(
      ["script", "-qec", "\(try binary()) token -c \(file) --route git --format plain", "/dev/null"])
    #expect(shown.status == 2 && shown.output.contains("add --reveal") && !shown.output.contains("ey"))
    try await proxy.stop()
  }

  @Test func `over TCP there is no token, whatever right a caller has`() async throws {
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let proxy = try await ProxyUnderTest(
      in: directory, application(provider.issuer) + "routes:\n" + route("all", to: upstream.port))
    let refused = try await proxy.admin("/token?route=all")
    #expect(refused.status == 403)
    #expect(refused.body == "only the proxy's own user and root get tokens, on a unix socket\n")
    let command = try await proxy.command(["token", "--route", "all", "--format", "plain"])
    #expect(command.status == 2 && command.errors.contains("the running proxy gives tokens on a unix socket only"))
  }
}
