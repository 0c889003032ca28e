// The HTTP/1.1 corpus beside the repository, run against the binary by its own runners.

import FoundationEssentials
import Testing
import TestSupport

private let corpus = testsDirectory + "/../../shared/http-corpus"

@Suite(
  .enabled(if: FileManager.default.fileExists(atPath: corpus), "../shared/http-corpus is not there"),
  .keepsSecrets, .timeLimit(.minutes(5)))
struct CorpusTests {
  /// The last line of a runner. With `anyone: true`, since one row is the request of a browser that does not say which
  /// site it is for: the rules for callers would refuse it, and these rows are about messages. With a token of a
  /// provider's if one is given.
  private func summary(_ runner: String, token provider: OpenIDProvider? = nil, _ arguments: [String] = [])
    async throws -> String
  {
    let origin = try freePort()
    let token =
      provider == nil ? "token: none" : "application: contoso, token: {as: application, scopes: [orders.read]}"
    let proxy = try await ProxyUnderTest(
      """
      listeners: [{address: "127.0.0.1:PORT", hosts: ["*"], callers: {anyone: true}}]
      cache: {file: cache.json}
      \(provider.map { application($0.issuer) } ?? "")
      routes: [{name: all, path: /, upstream: "http://127.0.0.1:\(origin)/", \(token)}]
      """)
    var arguments = arguments
    if provider != nil {
      #expect(try await eventually { try await proxy.admin("/readyz").status == 200 })
      let revealed = try await succeed([
        binary(), "token", "-c", proxy.configuration, "--route", "all", "--reveal", "--json",
      ])
      let found = try #require(revealed.firstMatch(of: /"access_token":"([^"]+)"/))
      arguments += ["--expect-auth", "Bearer \(found.1)"]
    }
    let result = try await run(
      [
        "/usr/bin/python3", "\(corpus)/\(runner)", "--proxy", "127.0.0.1:\(proxy.port)", "--origin-port", "\(origin)",
        "--quiet",
      ] + arguments, within: .seconds(120))
    return result.output.split(separator: "\n").last { $0.hasPrefix("SUMMARY") }.map(String.init) ?? result.errors
  }

  /// One accepted row is counted as altered: `/index%2ehtml` goes on as `/index.html`. The two are one resource (RFC
  /// 3986 §6.2.2.2, RFC 9110 §4.2.3), and a gateway, unlike a proxy that its user has chosen (RFC 9110 §3.7, §7.7),
  /// maps targets to its upstream's. What is forwarded is the text that the route was chosen by: an upstream that
  /// decodes once more finds nothing that was not judged.
  @Test func `no request is smuggled, misread or refused without reason`() async throws {
    let summary = try await summary("run_corpus.py")
    #expect(summary.contains("total=402 pass=401 "))
    for count in ["unsafe=0", "invalid=0", "noclose=0", "lenient=0", "overstrict=0", "altered=1", "hang=0"] {
      #expect(summary.contains(count))
    }
  }

  /// Two accepted rows are counted as altered: `/a/./b/../c` goes on as `/a/c`, and `/a%2Fb/../c;d=e` as `/c;d=e`. Dot
  /// segments are removed before a route is chosen (RFC 3986 §5.2.4, §6.2.2.3), an encoded slash being no end of a
  /// segment, and what the route was chosen by is what is forwarded: no upstream resolves it to a path outside of the
  /// route's.
  @Test func `no request displaces, doubles or takes away the token that is injected`() async throws {
    let provider = try await OpenIDProvider()
    let summary = try await summary("run_corpus.py", token: provider, ["--corpus", "\(corpus)/injection.jsonl"])
    #expect(summary.contains("total=26 pass=24 "), "\(summary)")
    for count in ["unsafe=0", "invalid=0", "noclose=0", "lenient=0", "overstrict=0", "altered=2", "hang=0", "auth=0"] {
      #expect(summary.contains(count), "\(summary)")
    }
  }

  @Test func `no answer of a misbehaving origin is passed on in a form that means two things`() async throws {
    let summary = try await summary("run_responses.py")
    #expect(summary.contains("total=100 pass=100 "))
  }
}
