// The counting of credentials that were replaced.

import Configuration
import Tokens
import Testing

@testable import bearer_proxy

@Suite struct CredentialVersionsTests {
  private func application(_ secret: String?, id: String = "one") throws -> ApplicationSettings {
    try application(line: secret.map { "client_secret: \"\($0)-secret\"" } ?? "", id: id)
  }

  private func application(line: String, id: String = "one") throws -> ApplicationSettings {
    let settings = try Settings.decode(
      yaml: Array(
        """
        listeners: [{address: 127.0.0.1:0}]
        applications:
          contoso:
            authority: https://id.example/realm
            client_id: \(id)
            \(line)
        routes: [{name: r, path: /, upstream: "http://127.0.0.1:1/", token: none}]
        """.utf8), file: "proxy.yaml", environment: [:])
    return try #require(settings.applications.first)
  }

  @Test func `another secret is another credential, also one that was there before, and nothing else is`() throws {
    var versions = CredentialVersions()
    var seen: [UInt64] = []
    for secret in ["a", "a", "b", "b", "a", nil, "c"] {
      let settings = try application(secret)
      versions.follow([settings])
      seen.append(versions[settings].number)
    }
    #expect(seen == [0, 0, 1, 1, 2, 3, 4])
    // An application that was gone for a while has not changed.
    versions.follow([])
    versions.follow([try application("c"), try application("x", id: "other")])
    #expect(versions[try application("c")].number == 4)
    #expect(versions[try application("x", id: "other")].number == 0)
  }

  @Test func `so is one of another kind, or of another audience`() throws {
    var versions = CredentialVersions()
    var seen: [UInt64] = []
    for line in [
      "client_secret: a-secret", "credential: {secret: {value: a-secret}}", "credential: {federated: {gcp: {}}}",
      "credential: {federated: {gcp: {}}}", "credential: {federated: {gcp: {}, audience: another}}",
    ] {
      let settings = try application(line: line)
      versions.follow([settings])
      seen.append(versions[settings].number)
    }
    #expect(seen == [0, 0, 1, 1, 2])
  }

  @Test func `applications with one client id count together, and each credential has its own number`() throws {
    var versions = CredentialVersions()
    let (good, bad) = (try application("good"), try application("bad"))
    versions.follow([good, bad, good])
    #expect(versions[good].number == 0 && versions[bad].number == 1)
    let mended = try application("mended")
    versions.follow([good, mended])
    #expect(versions[good].number == 0 && versions[mended].number == 2)
    versions.follow([mended, good])
    #expect(versions[good].number == 0 && versions[mended].number == 2)
  }
}
