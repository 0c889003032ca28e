// The request and the result of a sign-in at the pages: exactly the missing parts, for every instance.

import Bytes
import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct RequiredSignInTests {
  private typealias Sample = DemoDirectory.Sample

  struct Demand: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var path: String
    var arguments: [String] = []
    var status = 401
    /// The words of the page.
    var words: [String]
    var scope = "api://orders/Orders.Read"
    var claims = ##"{"access_token":{"xms_cc":{"values":["cp1"]}}}"##
    /// Additional parameters of the request.
    var more: [String: String] = [:]
  }

  static let demands: [Demand] = [
    Demand(
      testDescription: "claims", path: "payouts", words: ["Confirm that it is you", "one-time code (c1)"],
      claims: ##"{"access_token":{"acrs":{"essential":true,"value":"c1"},"xms_cc":{"values":["cp1"]}}}"##),
    Demand(
      testDescription: "RFC 9470", path: "statements",
      words: ["Confirm that it is you", "with a one-time code (mfa)", "of the last 10 minutes"],
      more: ["acr_values": "mfa", "max_age": "600"]),
    Demand(
      testDescription: "scopes", path: "uploads", arguments: ["-d", "x"], status: 403,
      words: ["More permissions are needed", "Orders.Read", "Orders.Write", "api://orders"],
      scope: "api://orders/Orders.Read api://orders/Orders.Write"),
  ]

  @Test(arguments: demands)
  func `the way to the provider asks for exactly what is missing, and every instance has it afterwards`(demand: Demand)
    async throws
  {
    let stage = try await SignInStage()
    let another = try await stage.anotherInstance()
    #expect(try await stage.signIn().status == 303)
    let path = "/my/orders/\(demand.path)"
    for instance in [stage.proxy, another] {
      #expect(try await eventually { try await instance.get(path, demand.arguments).status == demand.status })
      #expect(try await instance.get("/my/orders/list").status == 200)
    }

    let page = try await stage.browse("/.bearer/sign-in?route=my-orders&return=\(encoded(path))")
    for words in demand.words { #expect(page.body.contains(words), "\(words): \(page.body)") }
    let begun = try await stage.press(page)
    let asked = parameters(of: try #require(begun["location"]))
    var fixed = asked
    for random in ["state", "nonce", "code_challenge"] {
      #expect((fixed.removeValue(forKey: random)?.utf8.count ?? 0) >= 22, "\(random)")
    }
    let scopes = Set((fixed.removeValue(forKey: "scope") ?? "").split(separator: " "))
    #expect(scopes == Set("\(demand.scope) openid profile offline_access".split(separator: " ")))
    #expect(
      fixed
        == [
          "client_id": Sample.desk, "response_type": "code", "redirect_uri": "\(stage.origin)/.bearer/callback",
          "code_challenge_method": "S256", "login_hint": Sample.alice, "claims": demand.claims, "client_info": "1",
        ].merging(demand.more) { $1 })

    #expect(try await stage.browse(stage.atTheProvider(begun))["location"] == stage.origin + path)
    for instance in [stage.proxy, another] {
      #expect(try await eventually { try await instance.get(path, demand.arguments).status == 200 })
      // The earlier grant is still there.
      let list = try await instance.get("/my/orders/list")
      #expect(list.status == 200)
      #expect(list.body.contains("Orders.Read"))
      #expect(!demand.scope.contains("Write") || list.body.contains("Orders.Write"), "\(list.body)")
    }
    // And nothing more is asked for.
    #expect(try await stage.browse(SignInStage.link).heading == "Sign in again")
  }

  @Test func `a browser gets the page if the API rejects the token and the session is over, and a program does not`()
    async throws
  {
    let stage = try await SignInStage()
    // The API names claims to applications with this capability alone.
    try stage.proxy.reconfigure { $0.replacing(", client_capabilities: [cp1]", with: "") }
    #expect(try await eventually { stage.proxy.everythingWritten.contains("configuration reloaded") })
    #expect(try await stage.signIn().status == 303)
    #expect(try await stage.proxy.get("/my/orders/list").status == 200)
    for task in ["revoke", "critical-event"] { try await stage.demo.testing(task, #"{"user": "\#(Sample.alice)"}"#) }
    var page: Answer?
    // The second one in the pause after the provider's refusal.
    for _ in 0..<2 {
      let answer = try await stage.browse("/my/orders/list", ["-H", "Sec-Fetch-Mode: navigate"])
      #expect(answer.status == 401 && answer["www-authenticate"]?.contains("invalid_token") == true)
      #expect(answer.heading?.hasPrefix("Sign in") == true, "\(answer.body)")
      page = answer
    }
    #expect(try await stage.proxy.get("/my/orders/list").body.contains("the token was revoked"))
    let end = try await stage.browse(stage.atTheProvider(stage.press(try #require(page))))
    #expect(end["location"] == stage.origin + "/my/orders/list")
    // A token of the second of the event does not count.
    #expect(try await eventually { try await stage.proxy.get("/my/orders/list").status == 200 })
  }

  @Test func `the provider's own claims are in the proxy's 401, on the page and in the request`()
    async throws
  {
    let stage = try await SignInStage()
    let claims = ##"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"##
    try await stage.demo.testing("behaviour", ##"{"access_token_lifetime": 3}"##)
    #expect(try await stage.signIn().status == 303)
    try await stage.demo.testing(
      "behaviour",
      ##"""
      {"fail": {"times": 1000, "status": 400, "error": "interaction_required", "code": 50076, "suberror": \##
      "basic_action",
                "claims": "{\"access_token\":{\"acrs\":{\"essential\":true,\"value\":\"c1\"}}}"}}
      """##)
    #expect(try await eventually { try await stage.proxy.get("/my/orders/list").status == 401 })
    let refusal = try await stage.proxy.get("/my/orders/list")
    let problem = refusal.json
    #expect(problem["route"]?.text == "my-orders" && problem["reason"]?.text == "basic_action")
    #expect(problem["status"]?.seconds == 401 && problem["scopes"]?.texts.isEmpty == false)
    #expect(problem["sign_in"]?.text == "\(stage.origin)/.bearer/sign-in?route=my-orders")
    #expect(problem["claims"]?.text?.contains("acrs") == true)
    let challenge = try #require(refusal["www-authenticate"])
    #expect(challenge.contains("error=\"insufficient_claims\""))
    #expect(challenge.contains("claims=\"\(Data(claims.utf8).base64EncodedString())\""), "\(challenge)")
    let person = try await stage.browse("/my/orders/list", ["-H", "Sec-Fetch-Mode: navigate"])
    #expect(person.status == 401)
    #expect(person["www-authenticate"] == challenge, "the same for a person")
    #expect(person["cache-control"] == "no-store")

    let begun = try await stage.press(stage.browse("/.bearer/sign-in?route=my-orders"))
    #expect(
      parameters(of: begun["location"] ?? "")["claims"]?.contains(##""acrs":{"essential":true,"value":"c1"}"##) == true)
    try await stage.demo.testing("behaviour", "{}")
    #expect(try await stage.browse(stage.atTheProvider(begun)).heading == "You are signed in")
    #expect(try await stage.proxy.get("/my/orders/payouts").status == 200)
  }

  @Test func `the status names the page, and sign-ins that are under way outlive a reload`() async throws {
    let stage = try await SignInStage()
    #expect(try await stage.proxy.get("/my/orders/list").status == 401)
    let link = "\(stage.origin)/.bearer/sign-in?route=my-orders"
    #expect(try await stage.proxy.admin("/status").body.replacing("\\/", with: "/").contains(link))
    let page = try await stage.browse(SignInStage.link)
    try stage.proxy.reconfigure { $0 + "log: {level: debug}\n" }
    #expect(try await eventually { stage.proxy.everythingWritten.contains("configuration reloaded") })
    let begun = try await stage.press(page)
    try stage.proxy.reconfigure { $0.replacing("level: debug", with: "level: info") }
    #expect(
      try await eventually {
        stage.proxy.everythingWritten.split(separator: "configuration reloaded", omittingEmptySubsequences: false).count
          == 3
      })
    #expect(try await stage.browse(stage.atTheProvider(begun))["location"] == "\(stage.origin)/my/orders/list?a=1&b=2")
    #expect(try await stage.proxy.get("/my/orders/list").status == 200)
  }

  @Test func `a client that knows RFC 6750, RFC 9470 and the problem document gets through`() async throws {
    let stage = try await SignInStage()
    try await walk(
      "challenged_client.py",
      [
        "--ca", stage.settings.authorityPath,
        "--proxy",
        stage.origin, "--route", "/my/orders/", "plain",
      ], expecting: "ok: and satisfies it")
  }

  @Test func `the real msal package, given the surfaced claims, obtains a token that the API accepts`() async throws {
    let stage = try await SignInStage()
    #expect(try await stage.signIn().status == 303)
    let result = try await run(
      peer(
        "challenged_client.py",
        [
          "--ca", stage.settings.authorityPath, "--proxy", stage.origin, "--route", "/my/orders/", "--origin",
          stage.services.providerOrigin, "--api", stage.services.apiOrigin, "msal",
        ]))
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("ok: msal, given the surfaced claims, obtains a token that the API accepts"))
  }

  /// The parameters of an address.
  private func parameters(of address: String) -> [String: String] {
    let query = address.split(separator: "?", maxSplits: 1).last ?? ""
    return Dictionary(
      query.split(separator: "&").map { pair in
        let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
        return (parts[0], parts.count > 1 ? decoded(parts[1]) : "")
      }, uniquingKeysWith: { "\($0) twice \($1)" })
  }

  private func decoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
