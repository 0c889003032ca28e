// Envoy's question for a token in its gRPC form, asked by grpcio with messages that Google's protobuf writes and reads.

import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct CheckTests {
  private static let secret = #""metadata": {"x-proxy-key": "\#(EngineStage.secret)"}"#
  private static let http = #""http": {"method": "GET", "path": "/orders/free?a=b", "host": "api.example:8443"}"#

  static func address(_ stage: EngineStage) -> String { String(stage.origin.dropFirst("http://".count)) }

  /// The answers to questions at the listener with an address, a line for each.
  static func ask(_ stage: EngineStage, _ questions: [String]) async throws -> [String] {
    let printed = try await succeed(peer("check_peer.py", [address(stage)] + questions), within: .seconds(120))
    let lines = printed.split(separator: "\n").map(String.init)
    try #require(lines.count == questions.count, "\(printed)")
    return lines
  }

  @Test func `an engine with its proof gets tokens for questions, without it and for what is no question it gets none`()
    async throws
  {
    let stage = try await EngineStage()
    // More than is read before the caller is judged.
    let long = "12807d" + String(repeating: "00", count: 16_000)
    let denials = try await Self.ask(
      stage,
      [
        "{\(Self.http)}", #"{"metadata": {"x-proxy-key": "wrong"}, \#(Self.http)}"#,
        #"{"metadata": {"x-proxy-key": "\#(EngineStage.secret)", "origin": "https://evil.example"}, \#(Self.http)}"#,
        #"{"metadata": {"x-proxy-key": "wrong"}, "raw": "\#(long)", "times": 9}"#,
      ])
    for answer in denials {
      #expect(answer.contains(#""status": {"code": 403}}, "status": {"code": 7}"#), "\(answer)")
      #expect(answer.contains(#"{"key": "Content-Type", "value": "application/problem+json"}"#))
      #expect(!answer.contains("allowed") && !answer.contains("plain."))
    }
    let body = String(repeating: "x", count: 1000)
    let mistakes = try await Self.ask(
      stage,
      [
        #"{\#(Self.secret), "raw": "0a"}"#, #"{\#(Self.secret), "raw": "ffffffffffffffffffff01"}"#,
        #"{\#(Self.secret), "raw": "0b0c"}"#, #"{\#(Self.secret), "compressed": true, "http": {"body": "\#(body)"}}"#,
        // A field that is skipped.
        #"{\#(Self.secret), "raw": "\#(long)", "times": 9}"#,
      ])
    let expected = ["INTERNAL", "INTERNAL", "INTERNAL", "INTERNAL", "RESOURCE_EXHAUSTED"]
    for (answer, code) in zip(mistakes, expected) { #expect(answer.contains(#"{"code": "\#(code)""#), "\(answer)") }
    #expect(try await metricSum(stage.proxy, "bearer_proxy_tokens_handed_out_total") == 0)

    let answers = try await Self.ask(
      stage,
      [
        "{\(Self.secret), \(Self.http)}", #"{\#(Self.secret), "extensions": {"route": "orders"}, \#(Self.http)}"#,
        #"{\#(Self.secret), "extensions": {"route": "orders", "metadata": "token"}}"#,
      ])
    for (index, answer) in answers.enumerated() {
      #expect(answer.contains(#""header": {"key": "authorization", "value": "Bearer plain.1."}"#), "\(answer)")
      #expect(answer.contains(#""action": 2"#) && answer.contains(#""status": {}"#))
      #expect(!answer.contains("denied") && !answer.contains("removed"))
      #expect(
        answer.contains(#""metadata": {"fields": {"authorization": {"text": "Bearer plain.1."}}}"#) == (index == 2))
    }
    // The second and the third were warm.
    #expect(stage.api.asked.count == 1)
    #expect(try await metricSum(stage.proxy, "bearer_proxy_tokens_handed_out_total") == 3)
    // The record is written after the answer.
    #expect(try await eventually { stage.proxy.process.output.contains(#""path":"/.bearer/authorize/orders""#) })
    let report = #"""
      {"metadata": {"x-proxy-key": "\#(EngineStage.secret)", "x-bearer-refused": "Bearer plain.1.",
       "x-bearer-status": "401", "x-bearer-challenge": "Bearer error=\"invalid_token\""}, \#(Self.http)}
      """#
    #expect(try await Self.ask(stage, [report])[0].contains(#""value": "Bearer plain.2."}"#))
    // Other listeners know no such method: there it is a path like any other.
    #expect(try await stage.ask().status == 200)
  }

  @Test func `fields that must not reach the API are named, and a caller's own reports are not believed`() async throws
  {
    let stage = try await EngineStage(
      nil,
      [(#"as: application, "#, #"as: application, choice: {field: X-Part, values: {b: {scopes: [beta/.default]}}}, "#)])
    let fields = """
      "x-bearer-refused": "Bearer x", "x-bearer-status": "402", ":path": "/other", "x-part": "b", "x-rewrite-url": "/x",
      "x_http_method_override": "PUT", "authorization": "Bearer own", "content-length": "5", "te": "trailers",
      "x-original-method": "PUT", "x-forwarded-uri": "/other", "x-forwarded-host": "h", "cookie": "a=b"
      """
    let answer = try await Self.ask(
      stage,
      [
        #"{\#(Self.secret), "http": {"method": "GET", "path": "/orders/free", "host": "h", "headers": {\#(fields)}}}"#
      ])[0]
    #expect(answer.contains(#""value": "Bearer "#), "\(answer)")
    for name in ["x-part", "x-rewrite-url", "x_http_method_override", "x-forwarded-uri", "x-original-method"] {
      #expect(answer.between(#""removed": ["#, "]")?.contains("\"\(name)\"") == true, "\(answer)")
    }
    #expect(answer.between(#""removed": ["#, "]")?.contains("authorization") == false)
  }

  @Test func `a refusal is a whole answer for Envoy's caller`() async throws {
    let stage = try await EngineStage(nil, [EngineStage.person])
    let big = String(repeating: "x", count: 33_000)
    let answers = try await Self.ask(
      stage,
      [
        "{\(Self.secret), \(Self.http)}", #"{\#(Self.secret), "extensions": {"route": "other"}, \#(Self.http)}"#,
        #"{\#(Self.secret), "http": {"method": "GET", "path": "/elsewhere", "host": "h"}}"#, "{\(Self.secret)}",
        #"{\#(Self.secret), "http": {"method": "GET", "path": "/orders/../x", "host": "h"}}"#,
        #"{\#(Self.secret), "extensions": {"route": "orders/x"}}"#,
        #"{\#(Self.secret), "http": {"method": "GET", "path": "/orders/x", "host": "h", "headers": {"origin": "x"}}}"#,
        #"{\#(Self.secret), "http": {"method": "GET", "path": "/orders/x", "host": "h", "headers": {"a": "b\r\nc"}}}"#,
        #"{\#(Self.secret), "http": {"method": "GET", "path": "/orders/x", "host": "h", "headers": {"a": "\#(big)"}}}"#,
      ])
    let expected = [(16, 401), (12, 404), (7, 403), (13, 400), (7, 403), (13, 400), (7, 403), (13, 400), (13, 431)]
    for (answer, (code, status)) in zip(answers, expected) {
      #expect(answer.contains(#""status": {"code": \#(status)}}, "status": {"code": \#(code)}"#), "\(answer)")
      #expect(answer.contains(#"\"status\":\#(status),"#) && !answer.contains(#""allowed": {"#), "\(answer)")
      #expect(answer.contains(#"{"key": "Content-Type", "value": "application/problem+json"}"#))
    }
    #expect(answers[0].contains(#"{"key": "WWW-Authenticate", "value": "Bearer realm="#), "\(answers[0])")
    #expect(stage.api.requests == 0)
  }
}
