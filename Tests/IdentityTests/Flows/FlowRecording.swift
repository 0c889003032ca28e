// Reads the flows recorded from msal-python: Tests/Fixtures/msal/flows. Runs nothing; `FlowReplay` does.

import Bytes
import FoundationEssentials
import Testing
import Tokens

/// One recorded flow: calls of applications, what went over the wire, and the whole cache before and after each.
struct FlowRecording {
  /// A request and its scripted answer.
  struct Exchange {
    var url: String
    /// The form's members; nil for a GET.
    var form: [String: String]?
    /// The `X-AnchorMailbox` field.
    var anchor: String?
    /// nil if the network failed.
    var status: Int?
    var retryAfter: String?
    var body: String
  }

  struct Call {
    var now: UnixTime
    var app: [String: JSONValue]
    var scopes: [String]
    var claims: String?
    /// The account that was named, by its home account id.
    var account: String?
    var exchanges: [Exchange]
    /// The caller's result.
    var result: [String: JSONValue]
    var cacheBefore: JSONValue
    var cacheAfter: JSONValue

    /// The posted forms, in order.
    var posts: [Exchange] { exchanges.filter { $0.form != nil } }
    /// The token that the caller got.
    var token: String? { result["access_token"]?.text }
  }

  var calls: [Call]
  /// Every metadata document of the flow by its address.
  var metadata: [String: String]

  static let folder = URL(filePath: #filePath).appending(path: "../../../Fixtures/msal/flows").standardized

  /// The recorded flows' names.
  static func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path())
      .filter { $0.hasSuffix(".json") && $0 != "index.json" }.map { String($0.dropLast(5)) }.sorted()
  }

  init(_ name: String) throws {
    let text = try Data(contentsOf: Self.folder.appending(path: name + ".json"))
    let recorded = try #require(JSONValue(json: Array(text))?.members?["calls"]).list.compactMap(\.members)
    let setup = recorded.flatMap { Self.exchanges($0["setup_http"]) }
    metadata = Dictionary(setup.map { ($0.url, $0.body) }) { first, _ in first }
    calls = recorded.map { call in
      let arguments = call["args"]?.list ?? []
      return Call(
        now: UnixTime(call["now"]?.seconds ?? 0), app: call["app"]?.members ?? [:],
        scopes: arguments.first?.list.compactMap(\.text) ?? [],
        claims: call["kwargs"]?.members?["claims_challenge"]?.text,
        account: arguments.dropFirst().first?.members?["home_account_id"]?.text,
        exchanges: Self.exchanges(call["http"]), result: call["result"]?.members ?? [:],
        cacheBefore: call["cache_before"] ?? .object([:]), cacheAfter: call["cache_after"] ?? .object([:]))
    }
  }

  private static func exchanges(_ value: JSONValue?) -> [Exchange] {
    (value?.list ?? []).compactMap(\.members).map { exchange in
      let reply = exchange["reply"]?.members ?? [:]
      return Exchange(
        url: exchange["url"]?.text ?? "",
        form: exchange["method"]?.text == "POST" ? exchange["form"]?.members?.compactMapValues(\.text) : nil,
        anchor: exchange["headers"]?.members?["X-AnchorMailbox"]?.text, status: reply["status"]?.seconds.map(Int.init),
        retryAfter: reply["headers"]?.members?["Retry-After"]?.text, body: reply["body"]?.text ?? "")
    }
  }
}

extension FlowRecording.Exchange {
  /// The reading of the token endpoint's answer.
  func reply(at now: UnixTime) throws(TokenFailure) -> TokenReply {
    try TokenReply(
      ProviderAnswer(status: status ?? 0, retryAfter: retryAfter, body: Array(body.utf8)), sent: .none, now: now)
  }
}

extension JSONValue {
  /// The elements of an array; none for everything else.
  var list: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }
}
