// Reads the flows recorded from msal-python: Tests/Fixtures/msal/flows.

import Bytes
import FoundationEssentials
import Testing
import Tokens

/// One recorded flow: calls of an application, and what went over the wire.
struct FlowVector {
  struct Exchange {
    var at: UnixTime
    var url: String
    var form: [String: String]
    var status: Int
    var body: [UInt8]
  }

  struct Call {
    var members: [String: JSONValue]
    var now: UnixTime
    var exchanges: [Exchange]
    var result: [String: JSONValue] { members["result"]?.members ?? [:] }
    /// The whole cache after the call.
    var cacheAfter: [String: JSONValue] { members["cache_after"]?.members ?? [:] }
  }

  var authority: Authority
  var clientID: String
  var metadata: ProviderMetadata
  var calls: [Call]

  static let folder = URL(filePath: #filePath).appending(path: "../../../Fixtures/msal/flows").standardized

  init(_ name: String) throws {
    let text = try Data(contentsOf: Self.folder.appending(path: name + ".json"))
    let root = try #require(JSONValue(json: Array(text))?.members)
    let recorded = (root["calls"]?.elements ?? []).compactMap(\.members)
    let app = try #require(recorded.first?["app"]?.members)
    authority = try Authority(#require(app["authority"]?.text))
    clientID = try #require(app["client_id"]?.text)
    let discovery = try #require(Self.exchanges(recorded[0]["setup_http"]).first)
    metadata = try ProviderMetadata(json: discovery.body, authority: authority)
    calls = try recorded.map { members in
      Call(
        members: members, now: UnixTime(try #require(members["now"]?.seconds)),
        exchanges: Self.exchanges(members["http"]))
    }
  }

  private static func exchanges(_ value: JSONValue?) -> [Exchange] {
    (value?.elements ?? []).compactMap(\.members).map { exchange in
      let reply = exchange["reply"]?.members ?? [:]
      return Exchange(
        at: UnixTime(exchange["at"]?.seconds ?? 0), url: exchange["url"]?.text ?? "",
        form: exchange["form"]?.members?.compactMapValues(\.text) ?? [:], status: Int(reply["status"]?.seconds ?? 0),
        body: Array((reply["body"]?.text ?? "").utf8))
    }
  }
}
