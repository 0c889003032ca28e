// The commands as the built program runs them: exit statuses, streams, standard input; and what `check` finds beyond
// the text of the file in certificates, keys and trust of the openssl command's.

import TestSupport
import Testing

@testable import bearer_proxy

@Suite struct `Commands of the program` {
  @Test func `every file that cannot be used is reported where it is named`() async throws {
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let one = try await authority.issue("one")
    let two = try await authority.issue("two")
    try directory.write("not PEM\n", to: "empty.pem")
    let file = try directory.write(
      """
      listeners:
        - address: 127.0.0.1:0
          tls: {certificate_file: one.pem, key_file: one.key}
        - address: 127.0.0.1:0
          tls:
            certificate_file: one.pem
            key_file: two.key
        - address: 127.0.0.1:0
          tls: {certificate_file: empty.pem, key_file: two.key}
        - address: 127.0.0.1:0
          tls:
            certificate_file: two.pem
            key_file: empty.pem
      applications:
        a:
          authority: https://id.example
          client_id: a
          tls: {ca_file: empty.pem}
      routes:
        - {name: a, path: /a/, upstream: https://a.example, token: none, tls: {ca_file: ca.pem}}
        - name: b
          path: /b/
          upstream: https://a.example
          token: none
          tls: {ca_file: empty.pem}
        - {name: c, path: /c/, upstream: http://a.example, token: none, tls: {ca_file: empty.pem}}
      allow_readable_secrets: true
      """, to: "proxy.yaml")

    let answer = await Command.check(configuration: file).answer(in: CommandContext(environment: [:]))
    #expect(answer.status == .usage && answer.stream == .error)
    let lines = answer.text.split(separator: "\n").map { $0.replacing(directory.path + "/", with: "") }
    try #require(lines.count == 4)
    #expect(
      lines[0]
        == "proxy.yaml:7:17: error: listeners[1].tls.key_file: two.key is not the key of the certificate in one.pem")
    #expect(
      lines[1].hasPrefix(
        "proxy.yaml:9:29: error: listeners[2].tls.certificate_file: empty.pem holds no usable certificate: "))
    #expect(
      lines[2].hasPrefix("proxy.yaml:13:17: error: listeners[3].tls.key_file: empty.pem holds no usable private key: "))
    // The same file is named again by the application and met first by the route.
    #expect(
      lines[3].hasPrefix(
        "proxy.yaml:25:20: error: routes[1].tls.ca_file: empty.pem holds no usable certification authorities: "))
    #expect(one.keyFile != two.keyFile)
  }

  @Test func `the program says ok, or every mistake, with the exit status of each`() async throws {
    let directory = try TemporaryDirectory()
    let right = try directory.write(
      """
      listeners: [{address: "127.0.0.1:0"}]
      applications: {a: {authority: "http://127.0.0.1:1", client_id: a, client_secret: "${BEARER_PROXY_TEST}"}}
      routes: [{name: a, path: /, upstream: "http://127.0.0.1:1", token: {as: application}, application: a}]
      """, to: "right.yaml")
    let wrong = try directory.write("listeners: []\nroute: []\n", to: "wrong.yaml")
    let program = try binary()

    let ok = try await run([program, "check", "-c", right], environment: ["BEARER_PROXY_TEST": "secret"])
    #expect(ok.status == 0 && ok.output == "\(right): ok (1 route, 1 application)\n" && ok.errors == "")
    let named = try await run(
      [program, "check"], environment: ["BEARER_PROXY_TEST": "secret", "BEARER_PROXY_CONFIG": right])
    #expect(named.output == ok.output)
    let mistaken = try await run([program, "check", "-c", wrong])
    #expect(mistaken.status == 2 && mistaken.output == "")
    #expect(
      mistaken.errors == """
        \(wrong):1:1: error: the configuration needs 'routes'
        \(wrong):1:12: error: listeners is empty: no program could call
        \(wrong):2:1: error: unknown key 'route'; did you mean 'routes'?

        """)
    let absent = try await run([program, "check", "-c", "/nowhere.yaml"])
    #expect(absent.status == 2 && absent.errors.contains("/nowhere.yaml: error: cannot read the configuration"))
    let usage = try await run([program, "check", "--quick"])
    #expect(usage.status == 2 && usage.output == "" && usage.errors.hasPrefix("bearer-proxy: error: unknown option"))
    let version = try await run([program, "version", "--json"])
    #expect(version.status == 0 && version.output == "{\"name\":\"bearer-proxy\",\"version\":\"\(programVersion)\"}\n")
    let help = try await run([program, "token", "--help"])
    #expect(help.status == 0 && help.output == helpText(.token) && help.errors == "")
  }

  @Test func `a first configuration comes from answers on standard input`() async throws {
    let directory = try TemporaryDirectory()
    let answers = [
      "https://login.microsoftonline.com/contoso.onmicrosoft.com", "00000000-0000-0000-0000-000000000001", "s3cr3t$",
      "https://orders.example/api", "", "api://orders/.default",
    ]
    let input = try directory.write(answers.joined(separator: "\n") + "\n", to: "answers")
    let file = directory.path + "/first.yaml"
    let result = try await run([try binary(), "init", "-c", file], input: input)
    #expect(result.status == 0 && result.output.hasPrefix("wrote \(file) and \(directory.path)/first.secret\n"))
    #expect(result.errors.hasPrefix("Identity provider") && !result.errors.contains("s3cr3t"))
    let again = try await run([try binary(), "init", "-c", file], input: input)
    #expect(again.status == 1 && again.errors.contains("\(file) exists"))
  }

  @Test func `serving ends with the words of every command if descriptors do not suffice for its loops`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let file = try directory.write(
      """
      loops: 200
      listeners: [{address: "127.0.0.1:0"}]
      routes: [{name: all, path: /, upstream: "http://127.0.0.1:1/", token: none}]
      """, to: "proxy.yaml")
    let run = try await TestSupport.run(["sh", "-c", "ulimit -n 64; exec '\(try binary())' run -c '\(file)'"])
    #expect(run.status == ExitStatus.failed.rawValue)
    #expect(run.errors.hasPrefix("bearer-proxy: error: the system gives no event loop: "))
    #expect(run.errors.contains(": Too many open files\nNo file descriptor is left. Raise the limit"))
  }
}
