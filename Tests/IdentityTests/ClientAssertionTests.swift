// An application whose proof is in a file: read for each request, followed through links, never sent if it is none.

import Bytes
import FoundationEssentials
import Glibc
import HTTPClient
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5)))
struct ClientAssertionTests {
  let directory: TemporaryDirectory
  let provider = ScriptedProvider()

  init() throws { directory = try TemporaryDirectory() }

  private func application(_ path: String) throws -> Application {
    try provider.application(.assertionFile(path: path))
  }

  private func broker() -> TokenBroker { TokenBroker(at: ManualClock()) }

  @Test func `assertion-callable: what the file holds at each request is sent, also where a link to it is turned`()
    async throws
  {
    let issuer = try FederatedIssuer()
    let tokens = try (0..<2).map { try issuer.token(lifetime: 60 + $0, now: ManualClock.start) }
    for (index, token) in tokens.enumerated() {
      try FileManager.default.createDirectory(atPath: directory.file("v\(index)"), withIntermediateDirectories: false)
      try directory.write(token + "\n", to: "v\(index)/token")
    }
    // As a kubelet does it: a link to the directory, replaced in one step.
    #expect(symlink("v0", directory.file("data")) == 0 && symlink("data/token", directory.file("token")) == 0)
    let application = try application(directory.file("token"))
    for (index, scope) in ["a", "b"].enumerated() {
      if index == 1 {
        #expect(symlink("v1", directory.file("next")) == 0)
        #expect(rename(directory.file("next"), directory.file("data")) == 0)
      }
      let wish = try application.wish(scope)
      let broker = broker()
      // The second is held, and needs no proof.
      for _ in 0..<2 { #expect(try await broker.bearer(for: wish).token == Secret("token-\(index + 1)")) }
    }
    let forms = await provider.forms
    for (form, token) in zip(forms, tokens) {
      #expect(form.hasSuffix("client-assertion-type%3Ajwt-bearer&client_assertion=\(token)"))
      #expect(!form.contains("client_secret"))
    }
    #expect(forms.count == 2)
  }

  @Test(arguments: [
    (nil, "the client assertion cannot be read from FILE: No such file or directory"),
    ("", "what FILE holds is no signed JWT, and was not sent as a client assertion"),
    ("-----BEGIN PRIVATE KEY-----\nabc\n", "what FILE holds is no signed JWT, and was not sent as a client assertion"),
    ("e30.e30", "what FILE holds is no signed JWT, and was not sent as a client assertion"),
  ])
  func `a file that holds no proof is no request, and says so`(text: String?, words: String) async throws {
    let path = directory.file("token")
    if let text { try directory.write(text, to: "token") }
    let wish = try application(path).wish("a")
    let error = await #expect(throws: AcquisitionError.self) { try await broker().bearer(for: wish) }
    #expect(error?.reason == "identity-provider-unavailable")
    #expect(error?.detail == words.replacing("FILE", with: path))
    #expect(await provider.forms.isEmpty)
  }

  /// Seconds that the token is good for, and whether it is sent.
  @Test(arguments: [(1, true), (0, false), (-7200, false)] as [(Int64, Bool)])
  func `a token that has ended is not sent, and is told with its file and its end`(
    lifetime: Int64, isSent: Bool
  ) async throws {
    let issuer = try FederatedIssuer()
    try directory.write(try issuer.token(lifetime: lifetime, now: ManualClock.start), to: "token")
    let path = directory.file("token")
    let wish = try application(path).wish("a")
    if isSent {
      #expect(try await broker().bearer(for: wish).token == Secret("token-1"))
      return
    }
    let error = await #expect(throws: AcquisitionError.self) { try await broker().bearer(for: wish) }
    let end = ManualClock.start + lifetime
    #expect(error == AcquisitionError(.assertion(.expired(.file(path: path), at: end)), retryAfter: 1))
    let time = lifetime == 0 ? "2023-11-14T22:13:20Z" : "2023-11-14T20:13:20Z"
    #expect(error?.detail.hasPrefix("the token in \(path) expired at \(time) and was not sent: ") == true)
    #expect(await provider.forms.isEmpty)
    // The next one is taken up without a reload.
    try directory.write(try issuer.token(now: ManualClock.start), to: "token")
    #expect(try await broker().bearer(for: wish).token == Secret("token-1"))
  }

  @Test func `an assertion of the program's that has ended is not sent`() async throws {
    var application = try application("")
    application.credential = .assertion(
      Secret(try FederatedIssuer().token(lifetime: -1, now: ManualClock.start)), .jwtBearer)
    let wish = try application.wish("a")
    await #expect(
      throws: AcquisitionError(.assertion(.expired(.program, at: ManualClock.start + -1)), retryAfter: 1)
    ) { try await broker().bearer(for: wish) }
    #expect(await provider.forms.isEmpty)
  }
}
