// `exec`: a program that gets its tokens from a proxy for it alone.

import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ExecTests {
  private static let secret = "secret-of-the-configuration-0123"
  private let directory: TemporaryDirectory
  private let provider: OpenIDProvider
  private let configuration: String

  init() async throws {
    directory = try TemporaryDirectory()
    provider = try await OpenIDProvider(in: directory)
    // The port is another process's: exec opens none of the listeners.
    configuration = try directory.write(
      """
      allow_readable_secrets: true
      listeners:
        - address: 127.0.0.1:\(provider.port)
          callers: {anyone: true}
          programs:
            consumer: {secret: \(Self.secret), tokens: [{route: orders}]}
            reports: {shape: app_service, secret: \(Self.secret)-2,
              tokens: [{route: orders, resources: ["https://a.example"]}]}
            machine: {shape: imds, tokens: [{route: orders, resources: ["https://a.example"]}]}
      \(application(provider.issuer))
      routes:
      \(route("orders", to: 1))
      """, to: "proxy.yaml")
  }

  private func words(_ program: String, _ words: [String]) throws -> [String] {
    [try binary(), "exec", "-c", configuration, "--program", program, "--"] + words
  }

  private func exec(_ program: String, _ words: [String]) async throws -> CommandResult {
    try await run(try self.words(program, words), within: .seconds(180))
  }

  private func isKnown(_ token: some StringProtocol) async throws -> Bool {
    try await curl(["-H", "Authorization: Bearer \(token)", provider.issuer + "/api/whoami"]).status == 200
  }

  @Test func `Azure's clients find the variables of their shape`() async throws {
    for (program, client) in [("reports", "chain"), ("machine", "identity"), ("reports", "msal")] {
      let result = try await exec(program, peer("program_clients.py", [client, "https://a.example"]))
      #expect(result.status == 0, "\(result.output) \(result.errors)")
      #expect(result.output.hasPrefix("token "))
      #expect(try await isKnown(result.output.dropFirst(6).dropLast()))
    }
  }

  @Test func `a client of a token endpoint gets address, name and a secret of this run`() async throws {
    let result = try await exec(
      "consumer",
      [
        "sh", "-c",
        #"echo "$BEARER_PROXY_CLIENT_SECRET" && curl -sS -u "$BEARER_PROXY_CLIENT_ID:$BEARER_PROXY_CLIENT_SECRET" "#
          + #"-d grant_type=client_credentials "$BEARER_PROXY_TOKEN_URL""#,
      ])
    #expect(result.status == 0, "\(result.errors)")
    let lines = result.output.split(separator: "\n")
    try #require(lines.count == 2)
    #expect(lines[0].count == 43 && !lines[0].contains(Self.secret))
    #expect(lines[1].hasPrefix(#"{"access_token":"ey"#))
  }

  @Test func `Azure's credential chains are kept from a developer's own sign-ins, unless the variable is set`()
    async throws
  {
    let words = ["sh", "-c", "echo $AZURE_TOKEN_CREDENTIALS"]
    #expect(try await exec("reports", words).output == "prod\n")
    let set = try await run(try self.words("reports", words), environment: ["AZURE_TOKEN_CREDENTIALS": "dev"])
    #expect(set.output == "dev\n", "\(set.errors)")
    #expect(try await exec("consumer", words).output == "\n")
  }

  @Test func `it ends with the program's status`() async throws {
    for (script, status) in [("exit 7", 7), ("exit 0", 0), ("kill -TERM $$", 143), ("kill -KILL $$", 137)] {
      #expect(try await exec("consumer", ["sh", "-c", script]).status == Int32(status), "\(script)")
    }
  }

  @Test func `a program that cannot be started ends it as in a shell`() async throws {
    let missing = try await exec("consumer", ["no-such-program-anywhere"])
    #expect(missing.status == 127 && missing.errors.contains("cannot start no-such-program-anywhere"))
    #expect(try await exec("consumer", [directory.path]).status == 126)
    let none = try await run([binary(), "exec", "-c", configuration])
    #expect(none.status == 2 && none.errors.contains("no program given: bearer-proxy exec [OPTIONS] -- PROGRAM"))
    let ambiguous = try await run([binary(), "exec", "-c", configuration, "--", "true"])
    #expect(ambiguous.status == 2 && ambiguous.errors.contains("consumer, reports, machine"))
    let unknown = try await exec("kafka", ["true"])
    #expect(unknown.status == 2 && unknown.errors.contains("there is no program 'kafka'"))
  }

  @Test func `a program gets no variable that a secret of the configuration comes from, unless it is kept`()
    async throws
  {
    let text = textOfFile(configuration).replacing("\"\(OpenIDProvider.secret)\"", with: "\"${APP_SECRET}\"")
      .replacing(provider.issuer, with: "${ISSUER}")
    let file = try directory.write(text, to: "variables.yaml")
    chmod(file, 0o600)
    let variables = ["APP_SECRET": OpenIDProvider.secret, "ISSUER": provider.issuer, "OTHER": "other"]
    func seen(_ options: [String]) async throws -> CommandResult {
      let words = [try binary(), "exec", "-c", file, "--program", "consumer"] + options
      return try await run(words + ["--", "env"], environment: variables)
    }
    let plain = try await seen([])
    #expect(plain.status == 0 && plain.output.contains("OTHER=other"), "\(plain.errors)")
    #expect(plain.output.contains("ISSUER=\(provider.issuer)\n"))
    #expect(plain.output.contains("BEARER_PROXY_CLIENT_SECRET="))
    #expect(!plain.output.contains("APP_SECRET") && !plain.output.contains(OpenIDProvider.secret))
    #expect(try await seen(["--keep-variable", "APP_SECRET"]).output.contains("APP_SECRET=\(OpenIDProvider.secret)\n"))
    let mistaken = try await seen(["--keep-variable", "OTHER"])
    #expect(mistaken.status == 2)
    #expect(mistaken.errors.contains("no secret of the configuration is in it"), "\(mistaken.errors)")
  }

  /// A run whose program ends with status 3 while its request waits for a command, which ends when the file `ended` is
  /// there.
  private func leavingRequest(limit: String) async throws -> ChildProcess {
    let command = try directory.write(
      """
      #!/bin/sh
      until [ -e \(directory.file("ended")) ] || [ ! -e "$0" ]; do sleep 0.1; done
      echo eyJhbGciOiJub25lIn0.eyJleHAiOjk5OTk5OTk5OTl9.x

      """, to: "assertion.sh")
    chmod(command, 0o700)
    let file = try directory.write(
      textOfFile(configuration).replacing(
        application(provider.issuer),
        with: """
          shutdown: {limit: \(limit)}
          applications:
            contoso:
              authority: \(provider.issuer)
              client_id: \(OpenIDProvider.client)
              credential: {assertion_command: {command: [\(command)]}}
          """), to: "command.yaml")
    let (answer, trace) = (directory.file("answer"), directory.file("trace"))
    let script =
      #"curl -sv -u "$BEARER_PROXY_CLIENT_ID:$BEARER_PROXY_CLIENT_SECRET" -d grant_type=client_credentials "#
      + #"-w '%{http_code}' "$BEARER_PROXY_TOKEN_URL" > \#(answer) 2> \#(trace) & "#
      + "until grep -q '^> POST' \(trace); do sleep 0.1; done; exit 3"
    let process = try ChildProcess(
      "exec",
      [
        try binary(), "exec", "-c", file, "--program", "consumer", "--log-level", "info", "--", "sh", "-c", script,
      ], in: directory)
    #expect(try await eventually { process.errors.contains("draining") })
    return process
  }

  @Test func `a command of an application that ends meanwhile cuts no request off`() async throws {
    // The program ends, then the command, then the request is answered: the command's end is no second signal.
    let process = try await leavingRequest(limit: "60s")
    try directory.write("", to: "ended")
    #expect(try await process.wait() == 3)
    #expect(!process.errors.contains("ended at once"))
    // The provider takes no such assertion: an answer, not a broken connection.
    #expect(directory.read("answer").hasSuffix("400") || directory.read("answer").hasSuffix("503"))
  }

  @Test func `after the program's end a signal ends the rest at once`() async throws {
    let process = try await leavingRequest(limit: "10m")
    // Not one that other programs end with.
    process.send(SIGHUP)
    process.send(SIGTERM)
    #expect(try await process.wait() == 3)
    #expect(process.errors.contains("ended at once"), "\(process.errors)")
    try directory.write("", to: "ended")
  }

  @Test func `signals are the program's, and no secret is an argument`() async throws {
    let script =
      "trap 'echo got; exit 5' TERM HUP USR1 USR2 INT QUIT WINCH; echo ready; while :; do sleep 0.1 & wait $!; done"
    for signal in [SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT, SIGWINCH] {
      let process = try ChildProcess("exec-\(signal)", try words("reports", ["sh", "-c", script]), in: directory)
      #expect(try await eventually { process.output.contains("ready") })
      let arguments = textOfFile("/proc/\(process.identifier)/cmdline")
      #expect(!arguments.isEmpty && !arguments.contains(Self.secret) && !arguments.contains("IDENTITY_HEADER"))
      // The proxy may not listen to signals yet when the program is ready.
      #expect(
        try await eventually {
          process.send(signal)
          return process.poll() != nil
        })
      #expect(process.poll() == 5, "\(signal)")
      #expect(process.output.contains("got"))
    }
  }
}
