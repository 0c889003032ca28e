// Envoy's question for a token in the form of ext_proc, asked by grpcio with messages that Google's protobuf writes and
// reads.

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct EngineStreamTests {
  private static let metadata = #""x-proxy-key": "\#(EngineStage.secret)""#
  /// The proof, and the route's name, as the recipe has them.
  private static let known = "\"metadata\": {\(metadata), \"x-bearer-route\": \"orders\"}"

  /// The head of a request as the API gets it.
  private static func request(_ path: String = "/api/free?a=b", _ fields: String = "") -> String {
    #"{"request": [[":method", "GET"], [":path", "\#(path)"], [":authority", "api.example"]\#(fields)]}"#
  }

  private static func response(_ status: Int, _ fields: String = "") -> String {
    #"{"response": [[":status", "\#(status)"]\#(fields)]}"#
  }

  /// The answers to the messages of streams, a line for each stream.
  private static func ask(_ stage: EngineStage, _ streams: [(call: String, messages: [String])]) async throws
    -> [String]
  {
    let questions = streams.map { "{\($0.call), \"process\": [\($0.messages.joined(separator: ", "))]}" }
    return try await CheckTests.ask(stage, questions)
  }

  private static func given(_ token: String) -> String {
    #"{"action": 2, "header": {"key": "authorization", "value": "Bearer \#(token)"}}"#
  }

  @Test func `a stream gets the token with the request's head, and nothing behind the response's`() async throws {
    let stage = try await EngineStage()
    let fields = #", ["x-rewrite-url", "/x"], ["x-bearer-refused", "Bearer x"], ["authorization", "Bearer own"]"#
    let answers = try await Self.ask(
      stage,
      [
        (Self.known, [Self.request("/api/free?a=b", fields), Self.response(200), Self.response(200)]),
        // A filter of a listener, whose request has not been rewritten.
        ("\"metadata\": {\(Self.metadata)}", [Self.request("/orders/free"), Self.response(200)]),
        (
          Self.known,
          [
            #"{"request_body": 1}"#, Self.request(), #"{"request_trailers": 1}"#, #"{"response_body": 1}"#,
            #"{"response_trailers": 1}"#,
          ]
        ), (Self.known, []),
      ])
    for answer in answers[..<3] { #expect(answer.contains(Self.given("plain.1.")), "\(answer)") }
    for answer in answers { #expect(answer.hasSuffix(#"{"code": "OK"}]"#), "\(answer)") }
    #expect(answers[0].contains(#""removed": ["x-rewrite-url"]"#), "\(answers[0])")
    #expect(answers[0].contains(#"{"response": {"common": {"mutation": {"removed": ["x-bearer-again"]}}}}, {"code""#))
    #expect(answers[2].contains(#"[{"requestBody": {}}, {"request": "#), "\(answers[2])")
    #expect(
      answers[2].contains(#"{"requestTrailers": {}}, {"responseBody": {}}, {"responseTrailers": {}}, {"code""#))
    #expect(stage.api.asked.count == 1)
  }

  @Test func `a refused token is replaced, by its challenge, once for a request`() async throws {
    let stage = try await EngineStage()
    let claims = Data(#"{"access_token":{"acrs":{"essential":true,"value":"alpha"}}}"#.utf8).base64EncodedString()
    let demand = #", ["www-authenticate", "Bearer error=\"insufficient_claims\", claims=\"\#(claims)\""]"#
    let again = #""namespaces": {"bearer_proxy.again": {"token": "Bearer alpha.2."}}"#
    let answers = try await Self.ask(
      stage,
      [
        (Self.known, [Self.request(), Self.response(401, demand)]),
        // Envoy's second attempt.
        (Self.known, [String(Self.request().dropLast()) + ", \(again)}", Self.response(401, demand)]),
        // A call of gRPC's that is answered by a head alone; the loop has the new token by now.
        (Self.known, [Self.request(), Self.response(200, #", ["grpc-status", "16"]"#)]),
        (Self.known, [Self.response(401, demand)]),
      ])
    #expect(answers[0].contains(Self.given("plain.1.")), "\(answers[0])")
    #expect(answers[0].contains(#""header": {"key": "x-bearer-again", "value": "yes"}"#), "\(answers[0])")
    #expect(
      answers[0].contains(
        #"{"key": "bearer_proxy.again", "value": {"struct": {"fields": {"token": {"text": "Bearer alpha.2."}}}}}"#),
      "\(answers[0])")
    #expect(answers[1].contains(Self.given("alpha.2.")), "\(answers[1])")
    for index in [1, 3] { #expect(answers[index].contains(#""removed": ["x-bearer-again"]"#), "\(answers[index])") }
    #expect(answers[2].contains(Self.given("alpha.2.")), "\(answers[2])")
    #expect(stage.api.asked.prefix(2) == ["", "alpha"])
  }

  @Test func `a refusal of ours takes the API's place`() async throws {
    let stage = try await EngineStage(nil, [EngineStage.person])
    let answers = try await Self.ask(
      stage,
      [
        (Self.known, [Self.request()]),
        ("\"metadata\": {\(Self.metadata), \"x-bearer-route\": \"other\"}", [Self.request()]),
        (Self.known, [Self.request("/else/x")]), (Self.known, [Self.request("/api/../x")]),
        (Self.known, [Self.request("/api/..;/x")]),
        (Self.known, [Self.request("/api/x", #", ["origin", "https://evil.example"]"#)]),
        (Self.known, [Self.request("/api/x", #", ["a", "b\r\nc"]"#)]),
      ])
    for (answer, status) in zip(answers, [401, 404, 403, 403, 403, 403, 400]) {
      #expect(answer.contains(#""status": {"code": \#(status)}"#) && !answer.contains("authorization\""), "\(answer)")
      #expect(answer.contains(#"{"key": "Content-Type", "value": "application/problem+json"}"#))
      #expect(answer.hasSuffix(#"{"code": "OK"}]"#), "\(answer)")
    }
    #expect(answers[0].contains(#"{"key": "WWW-Authenticate", "value": "Bearer realm="#), "\(answers[0])")
  }

  @Test func `a stream that is not a known engine's gets no token, and its caller the reason`() async throws {
    let stage = try await EngineStage()
    let wrong = #""metadata": {"x-proxy-key": "wrong", "x-bearer-route": "orders"}"#
    let page = "\"metadata\": {\(Self.metadata), \"x-bearer-route\": \"orders\", \"origin\": \"https://evil.example\"}"
    let refused = try await Self.ask(stage, ["\"metadata\": {}", wrong, page].map { ($0, [Self.request()]) })
    for answer in refused {
      #expect(answer.contains(#""status": {"code": 403}"#) && !answer.contains("authorization\""), "\(answer)")
      #expect(answer.hasSuffix(#"{"code": "OK"}]"#), "\(answer)")
    }
    let answers = try await Self.ask(
      stage,
      [
        (Self.known, [#"{"raw": "0a"}"#]), (Self.known, [#"{"raw": ""}"#]), (Self.known, [#"{"raw": "12001a00"}"#]),
        (Self.known, [#"{"raw": "22\#(String(repeating: "ff", count: 4))0f"}"#]),
        (Self.known, [#"{"raw": "12808080808020"}"#]),
        (Self.known, [#"{"request_body": 1}"#, #"{"raw": "12"}"#]),
        (Self.known, [#"{"raw": "220e\#(String(repeating: "00", count: 14))", "times": 9000}"#]),
      ])
    let codes = Array(repeating: "INTERNAL", count: 6) + ["RESOURCE_EXHAUSTED"]
    for (answer, code) in zip(answers, codes) { #expect(answer.contains(#"{"code": "\#(code)""#), "\(answer)") }
    #expect(try await metricSum(stage.proxy, "bearer_proxy_tokens_handed_out_total") == 0)
    let twice = try await Self.ask(stage, [(Self.known, [Self.request(), Self.request()])])
    #expect(twice[0].contains(Self.given("plain.1.")) && twice[0].contains(#"{"code": "INTERNAL""#), "\(twice)")
  }

  @Test func `a stream that waits for the API's response ends in order with the proxy`() async throws {
    let stage = try await EngineStage()
    let call = try ChildProcess(
      "stream",
      peer(
        "check_peer.py",
        [CheckTests.address(stage), "{\(Self.known), \"process\": [\(Self.request()), {\"wait\": 1}]}"]),
      in: stage.directory)
    #expect(try await eventually { call.output.contains("plain.1.") || call.output.contains("authorization") })
    stage.proxy.process.send(SIGTERM)
    #expect(try await call.wait() == 0)
    #expect(call.output.contains(#"{"code": "OK"}]"#), "\(call.output)")
  }
}
