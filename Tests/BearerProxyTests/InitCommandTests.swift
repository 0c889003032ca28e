// The questions of `init`, the files it writes, and its refusals.

import Bytes
import Configuration
import Glibc
import Platform
import TestSupport
import Testing
import Tokens

@testable import bearer_proxy

@Suite struct `A first configuration` {
  private static let right = [
    "https://login.microsoftonline.com/contoso.onmicrosoft.com", "00000000-0000-0000-0000-000000000001", "s3cr3t$",
    "https://orders.example/api", "", "api://orders/.default",
  ]

  private func perform(_ answers: [String], in directory: TemporaryDirectory) async -> (CommandAnswer, String) {
    let left = Locked(answers)
    let heard = Locked("")
    var context = CommandContext(environment: [:])
    context.terminal.ask = { question, _ in
      heard.withLock { $0 += question }
      return left.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
    context.writeProgress = { text in heard.withLock { $0 += text } }
    let answer = await Command.initialise(configuration: directory.path + "/proxy.yaml").answer(in: context)
    return (answer, heard.withLock { $0 })
  }

  @Test func `is accepted, with its secret in a file of the user's own`() async throws {
    let directory = try TemporaryDirectory()
    let (answer, heard) = await perform(Self.right, in: directory)
    #expect(answer.status == .done)
    #expect(answer.text.contains("ok (1 route, 1 application)"))
    #expect(answer.text.contains("bearer-proxy token -c \(directory.path)/proxy.yaml --route orders"))
    #expect(heard.contains("leads there [/orders/]: "))
    let settings = try Settings.load(file: directory.path + "/proxy.yaml", environment: [:])
    #expect(settings.routes[0].path == "/orders/" && settings.routes[0].name == "orders")
    #expect(settings.applications[0].clientSecret?.revealed() == "s3cr3t$")
    var status = stat()
    #expect(stat(directory.path + "/proxy.secret", &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(!directory.read("proxy.yaml").contains("s3cr3t"))
    #expect(!answer.text.contains("s3cr3t"))
  }

  @Test func `of a public client names no secret and says how to sign in`() async throws {
    let directory = try TemporaryDirectory()
    let answers = [
      "https://id.example/realms/main", "app", "", "https://graph.example/v1.0/", "/g/", "User.Read Mail.Read",
    ]
    let (answer, _) = await perform(answers, in: directory)
    #expect(answer.status == .done)
    #expect(answer.text.contains("bearer-proxy login -c \(directory.path)/proxy.yaml --route g"))
    let settings = try Settings.load(file: directory.path + "/proxy.yaml", environment: [:])
    #expect(settings.applications[0].clientSecret == nil)
    #expect(!exists(directory.path + "/proxy.secret"))
  }

  /// A wrong answer at a place, what is said about it, and the answers after it.
  static let mistakes: [(Int, String, String)] = [
    (0, "login.example", "'login.example' begins neither with https:// nor with http://: write the whole URL"),
    (0, "https://login.microsoftonline.com/", "names no tenant"), (1, "", "client_id"),
    (3, "http://orders.example/", "would travel in clear to orders.example"),
    (3, "https://orders.example/?a=b", "has a query"), (4, "orders", "does not begin and end with '/'"),
    (4, "/.bearer/x/", "belongs to the proxy's own pages"), (5, "orders.read", "'<resource>/.default' only"),
    (5, "${HOME}", "'<resource>/.default' only"), (0, "https://\"quoted\".example/\\", "has"),
  ]

  @Test(arguments: mistakes)
  func `asks again if an answer breaks a rule`(place: Int, wrong: String, reason: String) async throws {
    let directory = try TemporaryDirectory()
    var answers = Self.right
    answers.insert(wrong, at: place)
    let (answer, heard) = await perform(answers, in: directory)
    #expect(answer.status == .done, "\(answer.text)")
    #expect(heard.contains(reason), "\(heard)")
  }

  @Test func `asks for the secret again if the tenant has no tokens for an application`() async throws {
    let directory = try TemporaryDirectory()
    let answers = [
      "https://login.microsoftonline.com/common", "app", "s", "", "https://graph.microsoft.com/v1.0/", "", "User.Read",
    ]
    let (answer, heard) = await perform(answers, in: directory)
    #expect(answer.status == .done, "\(answer.text)")
    #expect(heard.contains("names no tenant, so it has no tokens for an application itself"))
    #expect(directory.read("proxy.yaml").contains("path: \"/graph/\""))
  }

  @Test(arguments: ["proxy.yaml", "proxy.secret"])
  func `overwrites nothing`(name: String) async throws {
    let directory = try TemporaryDirectory()
    try directory.write("mine", to: name)
    let (answer, heard) = await perform(Self.right, in: directory)
    #expect(answer.status == .failed && answer.text.contains("\(name) exists") && heard.isEmpty)
    #expect(directory.read(name) == "mine")
  }

  @Test(arguments: 0..<6)
  func `is not written if the answers end`(count: Int) async throws {
    let directory = try TemporaryDirectory()
    let (answer, _) = await perform(Array(Self.right.prefix(count)), in: directory)
    #expect(answer.status == .failed)
    #expect(!exists(directory.path + "/proxy.yaml") && !exists(directory.path + "/proxy.secret"))
  }

  @Test func `says why a file cannot be made`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/nowhere/proxy.yaml"
    #expect(throws: SystemError("open", ENOENT)) { try writeNewFile(path, mode: 0o600, [1].span) }
    try directory.write("mine", to: "there")
    #expect(throws: SystemError("open", EEXIST)) {
      try writeNewFile(directory.path + "/there", mode: 0o600, [1].span)
    }
  }
}
