// The program that asks for a token, and the token that it gets.

import Bytes
import HTTP
import Routing
import Testing
import Tokens

@Suite struct ProgramTests {
  private static let secret = "0123456789abcdef"
  private static let other = "fedcba9876543210"

  private static func scopes(_ text: String) -> ScopeSet {
    do throws(ScopeError) { return try ScopeSet(parameter: text) } catch { preconditionFailure("a scope set") }
  }

  private static let table = ProgramTable([
    Program(
      name: "kafka", shape: .tokenEndpoint, secret: Secret(secret), leastLife: 300,
      tokens: [
        ProgramToken(name: "orders", route: 0, slot: 0, scopes: scopes("orders.read orders.write")),
        ProgramToken(name: "vault", slot: 1, scopes: scopes("https://vault.example/.default")),
        ProgramToken(name: "onward", route: 2, slot: 2, scopes: scopes("onward"), isForCallers: true),
      ]),
    Program(
      name: "reports", shape: .appService, secret: Secret(other), leastLife: 300,
      tokens: [
        ProgramToken(name: "vault", slot: 1, scopes: scopes("https://vault.example/.default")),
        ProgramToken(
          name: "exact", slot: 3, scopes: scopes("x"), resources: ["https://both.example", "https://both.example/"]),
        ProgramToken(name: "slash", slot: 4, scopes: scopes("y"), resources: ["https://slash.example/"]),
        ProgramToken(
          name: "identity", slot: 5, scopes: scopes("https://vault.example/.default"), identities: ["one", "two"]),
      ]),
    Program(
      name: "machine", shape: .imds, secret: nil, leastLife: 300,
      tokens: [ProgramToken(name: "vault", slot: 1, scopes: scopes("https://vault.example/.default"))]),
  ])

  /// The slot that a request gets, or its refusal.
  private static func answer(
    _ method: String, _ target: String, _ fields: [String] = [], form: String = "", table: ProgramTable = table
  ) throws -> Result<Int, ProgramRefusal> {
    var answer: Result<Int, ProgramRefusal>?
    let lines = (["Host: localhost"] + fields).joined(separator: "\r\n")
    try withRequest("\(method) \(target) HTTP/1.1\r\n\(lines)\r\n\r\n") { head, buffer in
      do throws(ProgramRefusal) {
        guard case .token(let shape) = try ProgramEndpoint(head, buffer.bytes, table) else {
          answer = .success(-1)
          return
        }
        let asked = try ProgramRequest(shape, head, buffer.bytes, form: Array(form.utf8), table)
        answer = .success(try asked.program.token(for: asked.wish).slot)
      } catch {
        answer = .failure(error)
      }
    }
    return try #require(answer)
  }

  private static func basic(_ pair: String) -> [String] { ["Authorization: Basic \(Base64.encode(Array(pair.utf8)))"] }

  private static let own = "grant_type=client_credentials"
  private static let exchange = "grant_type=urn:ietf:params:oauth:grant-type:token-exchange"
  private static let type = "urn:ietf:params:oauth:token-type:"

  @Test(
    arguments: [
      (own, .success(0)),
      ("\(own)&scope=", .success(0)),
      ("\(own)&scope=orders.write+orders.read", .success(0)),
      ("\(own)&scope=orders.read", .failure(.unknownScope)),
      ("\(own)&scope=https%3A%2F%2Fvault.example%2F.default", .success(1)),
      ("\(own)&scope=https://vault.example", .success(1)),
      ("\(own)&resource=https://vault.example/", .success(1)),
      ("\(own)&resource=https://else.example/", .failure(.unknownResource)),
      ("\(own)&resource=a&resource=b", .failure(.form)),
      ("\(own)&audience=https://vault.example", .success(1)),
      ("\(own)&audience=https://else.example", .failure(.unknownResource)),
      ("\(own)&audience=", .success(0)),
      // RFC 8707 §2: a resource beside a scope must not be ignored.
      ("\(own)&scope=https://vault.example/.default&resource=https://vault.example/", .success(1)),
      ("\(own)&scope=orders.read+orders.write&resource=https://vault.example", .failure(.unknownResource)),
      ("\(own)&scope=https://vault.example&resource=https://else.example", .failure(.unknownResource)),
      ("\(own)&scope=https://vault.example&audience=https://else.example", .failure(.unknownResource)),
      ("\(own)&resource=https://vault.example&audience=https://vault.example/", .success(1)),
      ("\(own)&resource=https://vault.example&audience=https://else.example", .failure(.unknownResource)),
      ("\(own)&scope=else&resource=https://vault.example", .failure(.unknownScope)),
      ("\(own)&scope=a%22b", .failure(.unknownScope)),
      ("\(own)&scope=onward", .failure(.grant)),
      ("\(own)&scope=a&scope=b", .failure(.form)),
      ("grant_type=password&username=a&password=b", .failure(.grant)),
      ("scope=onward", .failure(.form)),
      ("", .failure(.form)),
      ("grant_type=%zz", .failure(.form)),
      ("\(exchange)&subject_token=t&subject_token_type=\(type)jwt", .success(2)),
      ("\(exchange)&subject_token=t&scope=onward&subject_token_type=\(type)access_token", .success(2)),
      ("\(exchange)&subject_token=t", .failure(.subjectToken)),
      ("\(exchange)&subject_token_type=\(type)jwt", .failure(.subjectToken)),
      ("\(exchange)&subject_token=t&subject_token_type=\(type)id_token", .failure(.subjectToken)),
      ("\(exchange)&subject_token=t&actor_token=a&subject_token_type=\(type)jwt", .failure(.subjectToken)),
      ("\(exchange)&subject_token=t&scope=https://vault.example&subject_token_type=\(type)jwt", .failure(.grant)),
    ] as [(String, Result<Int, ProgramRefusal>)])
  func `the token endpoint gives the tokens that are listed, by the grants that fit them`(
    form: String, expected: Result<Int, ProgramRefusal>
  ) throws {
    #expect(try Self.answer("POST", "/oauth2/token", Self.basic("kafka:\(Self.secret)"), form: form) == expected)
    let more = "client_id=kafka&client_secret=\(Self.secret)" + (form.isEmpty ? "" : "&\(form)")
    #expect(try Self.answer("POST", "/oauth2/token", form: more) == expected)
  }

  @Test(
    arguments: [
      (basic("kafka:\(other)"), ""), (basic("reports:\(other)"), ""), (basic("kafka"), ""), (basic(":"), ""),
      (["Authorization: Basic !"], ""), (["Authorization: Bearer abc"], ""), ([], ""),
      (basic("kafka:\(secret)") + basic("kafka:\(secret)"), ""), (basic("kafka:\(secret)"), "&client_id=else"),
      ([], "&client_id=kafka"), ([], "&client_id=kafka&client_secret="),
      ([], "&client_id=kafka&client_secret=\(other)"),
    ] as [([String], String)])
  func `without a program's own secret the token endpoint gives none`(fields: [String], more: String) throws {
    #expect(
      try Self.answer("POST", "/oauth2/token", fields, form: "grant_type=client_credentials" + more)
        == .failure(.client))
  }

  @Test func `clients send their secret encoded or not, and once`() throws {
    let table = ProgramTable([
      Program(
        name: "a.b", shape: .tokenEndpoint, secret: Secret("key+with%2F:odd=&"), leastLife: 1,
        tokens: [ProgramToken(name: "r", slot: 7, scopes: .none)])
    ])
    let form = "grant_type=client_credentials"
    for pair in ["a.b:key+with%2F:odd=&", "a%2Eb:key%2Bwith%252F%3Aodd%3D%26"] {
      #expect(try Self.answer("POST", "/oauth2/token", Self.basic(pair), form: form, table: table) == .success(7))
    }
    #expect(
      try Self.answer(
        "POST", "/oauth2/token", Self.basic("kafka:\(Self.secret)"), form: "\(form)&client_secret=\(Self.secret)")
        == .failure(.twoSecrets))
  }

  @Test(
    arguments: [
      ("resource=https://vault.example", .success(1)), ("resource=https%3A%2F%2Fvault.example%2F", .success(1)),
      ("resource=https://vault.example//", .failure(.unknownResource)),
      ("resource=https://both.example", .success(3)), ("resource=https://both.example/", .success(3)),
      ("resource=https://slash.example", .success(4)), ("resource=https://slash.example/", .success(4)),
      ("resource=https://vault.example/.default", .failure(.unknownResource)),
      ("resource=https://vault.example.evil", .failure(.unknownResource)), ("", .failure(.resourceMissing)),
      ("resource=", .failure(.resourceMissing)), ("resource=a&resource=b", .failure(.form)),
      ("resource=https://vault.example&client_id=one", .success(5)),
      ("resource=https://vault.example&mi_res_id=two", .success(5)),
      ("resource=https://vault.example&client_id=three", .failure(.unknownIdentity)),
      ("resource=https://slash.example&client_id=one", .failure(.unknownResource)),
      ("resource=https://vault.example&client_id=one&object_id=two", .failure(.unknownIdentity)),
    ] as [(String, Result<Int, ProgramRefusal>)])
  func `App Service's endpoint gives the token of a resource and an identity`(
    query: String, expected: Result<Int, ProgramRefusal>
  ) throws {
    let target = "/msi/token?api-version=2019-08-01&\(query)"
    for fields in [[], ["Metadata: true"]] {
      #expect(try Self.answer("GET", target, ["X-IDENTITY-HEADER: \(Self.other)"] + fields) == expected)
    }
  }

  @Test(
    arguments: [
      ("2019-08-01", .success(1)), ("2021-02-01", .success(1)), ("2019-08-01-preview", .success(1)),
      ("2017-09-01", .failure(.version)), ("", .failure(.version)), ("latest", .failure(.version)),
    ] as [(String, Result<Int, ProgramRefusal>)])
  func `later versions are answered as the known one`(version: String, expected: Result<Int, ProgramRefusal>) throws {
    let target = "/msi/token?resource=https://vault.example&api-version=\(version)"
    #expect(try Self.answer("GET", target, ["X-IDENTITY-HEADER: \(Self.other)"]) == expected)
  }

  @Test(
    arguments: [
      (["X-IDENTITY-HEADER: \(secret)"], .failure(.secret)), ([], .failure(.secret)),
      (["secret: \(other)"], .failure(.secret)),
      (["X-IDENTITY-HEADER: \(other)", "X-Identity-Header: \(other)"], .failure(.secret)),
      (["x-identity-header: \(other)", "X-Forwarded-For: 10.0.0.1"], .failure(.forwarded)),
      (["x-identity-header: \(other)", "Forwarded: for=10.0.0.1"], .failure(.forwarded)),
      (["x-identity-header: \(other)", "Origin: http://localhost"], .failure(.browser)),
      (["x-identity-header: \(other)", "Sec-Fetch-Site: same-origin"], .failure(.browser)),
      (["x-identity-header: \(other)", "Sec-Fetch-Storage-Access: none"], .failure(.browser)),
      (["x-identity-header: \(other)"], .success(1)),
    ] as [([String], Result<Int, ProgramRefusal>)])
  func `App Service's endpoint is for a program with its secret, and not for what others make a program request`(
    fields: [String], expected: Result<Int, ProgramRefusal>
  ) throws {
    #expect(
      try Self.answer("GET", "/msi/token?api-version=2019-08-01&resource=https://vault.example", fields) == expected)
  }

  @Test(
    arguments: [
      (["Metadata: true"], .success(1)), (["metadata: True"], .success(1)), ([], .failure(.metadata)),
      (["Metadata: false"], .failure(.metadata)), (["Metadata: true", "Metadata: true"], .failure(.metadata)),
      (["Metadata: true", "X-Forwarded-For: 10.0.0.1"], .failure(.forwarded)),
      (["Metadata: true", "Sec-Fetch-Mode: cors"], .failure(.browser)),
    ] as [([String], Result<Int, ProgramRefusal>)])
  func `the shape of virtual machines needs the field that no address alone brings`(
    fields: [String], expected: Result<Int, ProgramRefusal>
  ) throws {
    let target = "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https://vault.example/"
    #expect(try Self.answer("GET", target, fields) == expected)
  }

  @Test(
    arguments: [
      ("GET", "/oauth2/token", .failure(.method)), ("POST", "/msi/token", .failure(.method)),
      ("OPTIONS", "/msi/token", .failure(.method)), ("GET", "/", .failure(.nothingHere)),
      ("GET", "/msi/token/", .failure(.nothingHere)), ("GET", "/x/../msi/token", .failure(.nothingHere)),
      ("GET", "/%6dsi/token", .failure(.nothingHere)), ("GET", "//msi/token", .failure(.nothingHere)),
      ("GET", "/.well-known/oauth-authorization-server", .success(-1)),
      ("POST", "/.well-known/oauth-authorization-server", .failure(.method)),
      ("GET", "/.well-known/openid-configuration", .failure(.nothingHere)),
    ] as [(String, String, Result<Int, ProgramRefusal>)])
  func `each endpoint has one path and one method`(
    method: String, target: String, expected: Result<Int, ProgramRefusal>
  ) throws {
    #expect(try Self.answer(method, target) == expected)
  }

  @Test func `a shape that no program has is refused`() throws {
    let kafka = ProgramTable([Self.table.programs[0]])
    #expect(try Self.answer("GET", "/msi/token", table: kafka) == .failure(.shape(.appService)))
    #expect(try Self.answer("GET", "/metadata/identity/oauth2/token", table: kafka) == .failure(.shape(.imds)))
    let machine = ProgramTable([Self.table.programs[2]])
    #expect(try Self.answer("POST", "/oauth2/token", table: machine) == .failure(.shape(.tokenEndpoint)))
    #expect(try Self.answer("GET", "/.well-known/oauth-authorization-server", table: machine) == .failure(.nothingHere))
  }

  @Test func `Envoy's own client names its address to a token endpoint`() throws {
    #expect(
      try Self.answer(
        "POST", "/oauth2/token", Self.basic("kafka:\(Self.secret)") + ["X-Forwarded-For: 10.0.0.1"],
        form: "grant_type=client_credentials") == .success(0))
  }
}
