// A provider that repeats what it is sent, in whatever spelling and member: neither people nor logs are shown it.

import Bytes
import FoundationEssentials
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(3)))
struct EchoTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test func `a client secret that a provider repeats reaches no log, no status and no caller`() async throws {
    let provider = try await PythonPeer("echoing_provider.py", in: directory)
    func texts(_ name: String) async throws -> [String] {
      let answer = try await curl(["http://127.0.0.1:\(provider.port)/testing/\(name)"])
      return JSONValue(json: Array(answer.body.utf8))?.texts ?? []
    }
    // The names of the spellings that it knows.
    let forms = try await texts("forms")
    // Each spelling once as the error itself and once beside a standard error, of a secret in the form and of one in a
    // field.
    let realms = forms.flatMap { [$0, "code-" + $0, $0 + "-in-field"] }
    let applications = realms.map {
      """
        \($0): {authority: "http://127.0.0.1:\(provider.port)/realms/\($0)", client_id: "\(OpenIDProvider.client)",
          client_secret: "\(OpenIDProvider.secret)"}

      """
    }
    let routes = realms.map {
      """
        - {name: \($0), path: /\($0)/, upstream: "http://127.0.0.1:\(provider.port)/", application: \($0),
           token: {as: application, scopes: [a]}}

      """
    }
    let proxy = try await ProxyUnderTest(
      in: directory,
      "log: {level: debug}\ncache: {file: \(directory.file("cache.json"))}\napplications:\n" + applications.joined()
        + "routes:\n" + routes.joined())
    var written = ""
    for realm in realms {
      var answer = try await proxy.get("/\(realm)/x")
      // A provider that is asked fifty times at once may not be heard the first time.
      _ = try await eventually {
        answer = try await proxy.get("/\(realm)/x")
        return answer.status == 502
      }
      #expect(answer.status == 502 && answer.body.contains("token-request-rejected"), "\(realm): \(answer.body)")
      // An honest provider's code is still told, and so is that there was something to say.
      #expect(answer.body.contains(realm.hasPrefix("code-") ? "(invalid_client)" : "(withheld)"), "\(answer.body)")
      written += answer.body + answer.fields.map { "\($0.name): \($0.value)\n" }.joined()
    }
    for path in ["/status", "/status?format=json", "/metrics", "/readyz", "/config"] {
      written += try await proxy.admin(path).body
    }
    for realm in ["base64", "code-raw", "raw-in-field"] {
      for arguments in [["token", "--route", realm], ["login", "--application", realm, "--device-code"]] {
        let result = try await proxy.command(arguments)
        #expect(result.status != 0)
        #expect(result.errors.contains("are not shown"), "\(arguments): \(result.errors)")
        written += result.output + result.errors
      }
    }
    written += try await run([binary(), "check", "--live", "-c", proxy.configuration]).output
    #expect(
      try await eventually {
        realms.allSatisfy { realm in proxy.everythingWritten.contains("\"\(realm)\"") }
      })
    written += proxy.everythingWritten
    let repeated = try await texts("repeated")
    #expect(repeated.count >= realms.count)
    for text in Set(repeated) {
      // The secret's first characters are in each of them, in the spelling of the row.
      #expect(!written.contains(text.drop { $0 == "." }), "\(text.prefix(20))")
    }
    #expect(written.contains("the provider's words repeat a secret of the request, and are not shown"))
  }

  @Test func `codes, verifiers and refresh tokens that a provider repeats reach no log, no status and no caller`()
    async throws
  {
    let person = OpenIDProvider.ann()
    let provider = try await OpenIDProvider(OpenIDProvider.desk + ["--expires-in", "4"])
    let proxy = try await ProxyUnderTest(
      in: directory,
      "log: {level: debug}\n" + annsConfiguration(provider.issuer))
    var written = ""
    for parameter in ["code", "code_verifier"] {
      try await provider.behave(#"{"repeat": "\#(parameter)", "times": 100}"#)
      let login = try Login(proxy.configuration, ["--application", "desk"])
      written += try await person.authorize(try await login.address())
      let result = try await login.result()
      #expect(result.status != 0)
      #expect(result.errors.contains("repeat a secret of the request, and are not shown"), "\(result.errors)")
      written += result.output + result.errors
    }
    // Of an error the caller hears as long as the sign-in may still be good, and that it is over once it is.
    for (error, status) in [("invalid_request", 502), ("invalid_grant", 401)] {
      try await provider.behave("{}")
      let login = try await Login.run(proxy.configuration, ["--application", "desk"], person: person)
      #expect(login.status == 0, "\(login.errors)")
      #expect(try await eventually { try await proxy.get("/hers/whoami").status == 200 })
      try await provider.behave(#"{"repeat": "refresh_token", "error": "\#(error)", "times": 100}"#)
      var answer = try await proxy.get("/hers/whoami")
      _ = try await eventually {
        answer = try await proxy.get("/hers/whoami")
        // In the second of its expiry the API, which is the provider's own, may refuse the token before the proxy does.
        return answer.status != 200 && !answer.body.contains("The access token provided is expired")
      }
      #expect(answer.status == status, "\(answer.body)")
      written += answer.body + answer.fields.map { "\($0.name): \($0.value)\n" }.joined()
      for path in ["/status", "/status?format=json", "/metrics", "/readyz"] {
        written += try await proxy.admin(path).body
      }
      for arguments in [["token", "--route", "hers"], ["check", "--live"]] {
        let result = try await proxy.command(arguments)
        #expect(result.status != 0)
        written += result.output + result.errors
      }
    }
    written += proxy.everythingWritten
    let repeated = Set(try await provider.repeated())
    // Two codes or verifiers and two refresh tokens, each in three spellings.
    #expect(repeated.count >= 12)
    for text in repeated { #expect(!written.contains(text), "\(text.prefix(8))") }
  }
}
