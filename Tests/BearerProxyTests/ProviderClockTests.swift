// The clock of this machine beside the provider's, as `check --live` compares them.

import Bytes
import HTTPClient
import TestSupport
import Testing

@testable import bearer_proxy

@Suite struct ProviderClockTests {
  /// 08:49:37 of the date that the provider sends.
  private static let provider = UnixTime(784_111_777)

  @Test(
    arguments: [
      (0, nil, nil), (60, nil, nil), (-60, nil, nil), (61, nil, "61 s ahead of"), (-90, nil, "90 s behind"),
      (3630, nil, "60 min ahead of"), (-3630, nil, "60 min behind"),
      // From a cache that has had it for an hour.
      (3630, "3600", nil), (3600, "60", "59 min ahead of"),
    ] as [(Int64, String?, String?)])
  func `a clock that is off by more than a minute is named`(offset: Int64, age: String?, words: String?) async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write(
      """
      listeners: [{address: "127.0.0.1:0"}]
      allow_readable_secrets: true
      applications: {late: {authority: "https://id.example", client_id: x, client_secret: s3cret-of-the-app}}
      routes:
        - {name: orders, path: /, upstream: "http://127.0.0.1:1/", application: late,
           token: {as: application, scopes: [orders.read]}}
      """, to: "p.yaml")
    var context = CommandContext(environment: [:])
    context.now = { Self.provider + offset }
    context.providers = { _ in
      { (request) async throws(FetchError) in
        let json =
          if case .get = request.method {
            #"{"issuer": "https://id.example", "token_endpoint": "https://id.example/t"}"#
          } else {
            #"{"access_token": "t", "token_type": "Bearer", "expires_in": 3600}"#
          }
        var fields = [(name: "date", value: "Sun, 06 Nov 1994 08:49:37 GMT")]
        if let age { fields.append((name: "age", value: age)) }
        return FetchResponse(status: 200, fields: fields, body: Array(json.utf8))
      }
    }
    let answer = await Command.checkLive(LiveCheck(configuration: file, form: .text)).answer(in: context)
    let lines = answer.text.split(separator: "\n")
    let line = lines.firstIndex { $0.hasPrefix("  FAILED  clock ") }
    #expect((line == nil) == (words == nil), "\(answer.text)")
    if let line, let words {
      #expect(lines[line].hasSuffix("this machine's clock is \(words) the provider's"), "\(lines[line])")
      #expect(lines[line + 1].contains("Set this machine's clock"))
    }
  }
}
