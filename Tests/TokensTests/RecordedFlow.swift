// Reads one recorded flow of msal-python (Fixtures/): application, calls, requests and scripted replies.

import Bytes
import FoundationEssentials
import Testing
import Tokens

/// A recorded flow of one application.
struct RecordedFlow {
  struct Call {
    var scopes: [String]
    var claims: String?
    var url: String
    var form: [String: String]
    var status: Int
    var reply: String
    var result: [String: JSONValue]
    var sendsTokenRequest: Bool { !form.isEmpty }
  }

  var authority: Authority
  var clientID: String
  var secret: String
  var metadata: [UInt8]
  var calls: [Call]
  var now: UnixTime

  init(named name: String) throws {
    let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name).json")
    let root = try #require(JSONValue(json: Array(Data(contentsOf: url)))?.members)
    let calls = try #require(root["calls"]?.elements)
    let first = try #require(calls.first?.members)
    let app = try #require(first["app"]?.members)
    authority = try Authority(#require(app["authority"]?.text))
    clientID = try #require(app["client_id"]?.text)
    secret = try #require(app["credential"]?.text)
    now = UnixTime(try #require(first["now"]?.seconds))
    let discovery = try #require(first["setup_http"]?.elements.first?.members?["reply"]?.members?["body"]?.text)
    metadata = Array(discovery.utf8)
    self.calls = try calls.compactMap { value -> Call? in
      let call = try #require(value.members)
      guard call["method"]?.text == "acquire_token_for_client" else { return nil }
      let exchange = call["http"]?.elements.first?.members ?? [:]
      let reply = exchange["reply"]?.members ?? [:]
      return Call(
        scopes: try #require(call["args"]?.elements.first?.elements).compactMap(\.text),
        claims: call["kwargs"]?.members?["claims_challenge"]?.text,
        url: exchange["url"]?.text ?? "", form: exchange["form"]?.members?.compactMapValues(\.text) ?? [:],
        status: Int(reply["status"]?.seconds ?? 0), reply: reply["body"]?.text ?? "",
        result: call["result"]?.members ?? [:])
    }
    #expect(self.calls.count == 3)
  }

  /// The members of a form, decoded.
  static func members(ofForm body: [UInt8]) -> [String: String] {
    var members: [String: String] = [:]
    for pair in String(decoding: body, as: UTF8.self).split(separator: "&") {
      let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      members[String(halves[0])] = decoded(halves[1])
    }
    return members
  }

  private static func decoded(_ value: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(value.utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
        rest = rest.dropFirst(2)
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension JSONValue {
  /// The elements of an array; none for everything else.
  var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }
}
