// The list of people: which of them, and in which form, whole or page by page.

import Bytes
import Configuration
import Identity
import Platform
import TestSupport
import Testing
import Tokens

@testable import bearer_proxy

@Suite struct AccountsCommandTests {
  static let now = UnixTime(1_700_000_000)
  let directory: TemporaryDirectory
  let file: String
  let people = ["carol", "alice", "bob"].map { SignedInPerson($0) }

  init() throws {
    directory = try TemporaryDirectory()
    file = try directory.write(
      """
      listeners: [{address: "127.0.0.1:0"}]
      cache: {file: cache.json}
      applications:
        desk:
          authority: https://\(SignedInPerson.environment)/\(SignedInPerson.tenant)
          client_id: \(SignedInPerson.client)
        other: {authority: "https://id.example/realm", client_id: c}
      routes:
        - {name: mail, path: /, upstream: "https://mail.example/", application: desk, token: {scopes: [User.Read]}}
      """, to: "proxy.yaml")
  }

  private func answer(
    _ form: OutputForm = .text, application: String? = nil, account: String? = nil
  ) async throws -> CommandAnswer {
    var document = CacheDocument()
    for person in people { document.add(try person.issued(generation: 0, now: Self.now), now: Self.now) }
    _ = try directory.write(String(decoding: document.text(), as: UTF8.self), to: "cache.json")
    var context = CommandContext(environment: [:])
    context.now = { Self.now }
    return await Command.accounts(
      AccountsCommand(configuration: file, form: form, application: application, account: account)
    ).answer(in: context)
  }

  /// The names of a list, in its order, and the number of applications.
  private func names(_ answer: CommandAnswer) throws -> (people: [String], applications: Int) {
    guard case .array(let list)? = JSONValue(json: Array(answer.text.utf8))?.members?["applications"] else {
      throw TestSupportError(answer.text)
    }
    let people = list.flatMap { application -> [JSONValue] in
      if case .array(let people)? = application.members?["accounts"] { people } else { [] }
    }
    return (people.compactMap { $0.members?["username"]?.text }, list.count)
  }

  @Test(
    arguments: [
      (nil, nil, ["alice", "bob", "carol"], 2), ("desk", nil, ["alice", "bob", "carol"], 1), ("other", nil, [], 1),
      (nil, "Bob@Contoso.Example", ["bob"], 2), ("desk", "alice.\(SignedInPerson.tenant)", ["alice"], 1),
      ("desk", "dave", [], 1), ("other", "bob@contoso.example", [], 1),
    ] as [(String?, String?, [String], Int)])
  func `people by name, of all or one application, all or one of them`(
    application: String?, account: String?, people: [String], applications: Int
  ) async throws {
    let answer = try await answer(.json, application: application, account: account)
    #expect(answer.status == .done)
    let found = try names(answer)
    #expect(found.people == people.map { "\($0)@contoso.example" } && found.applications == applications)
    let text = try await self.answer(application: application, account: account).text
    #expect(text.split(separator: "\n").filter { $0.hasPrefix("application ") }.count == applications)
    for person in self.people {
      #expect(text.contains("  \(person.uid)@contoso.example\n") == people.contains(person.uid))
    }
    #expect(text.contains("no account is signed in") == (people.isEmpty || application == nil))
  }

  @Test func `an unknown application is a mistake of the command line`() async throws {
    let answer = try await answer(application: "desc")
    #expect(answer.status == .usage && answer.text.contains("did you mean 'desk'?"))
  }

  @Test(arguments: [OutputForm.text, .json])
  func `pages make the same list`(form: OutputForm) async throws {
    let settings = try Settings.load(file: file, environment: [:])
    var document = CacheDocument()
    for person in people { document.add(try person.issued(generation: 0, now: Self.now), now: Self.now) }
    let accounts = document.signedInAccounts(
      at: settings.applications[0].authority.value, clientID: SignedInPerson.client)
    try #require(accounts.count == 3)
    var (whole, paged, pages) = (AccountsList(form: form, now: Self.now), AccountsList(form: form, now: Self.now), "")
    whole.begin(settings.applications[0])
    paged.begin(settings.applications[0])
    whole.add(accounts)
    for account in accounts {
      paged.add([account])
      paged.add([])
      pages += paged.take()
    }
    whole.begin(settings.applications[1])
    paged.begin(settings.applications[1])
    pages += paged.end()
    #expect(whole.end() == pages)
  }
}
