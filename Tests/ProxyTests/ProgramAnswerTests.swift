// The statuses and codes by which programs tell a mistake from an outage, and the members of a token in each shape.

import Bytes
import HTTPClient
import Identity
import Routing
import Testing
import Tokens

@testable import Proxy

@Suite struct ProgramAnswerTests {
  private static let interaction = InteractionRequired(
    reason: .noAccount, scopes: .none, claims: nil, authority: authority)
  private static let authority: Authority = {
    do throws(AuthorityError) {
      return try Authority("https://id.example")
    } catch {
      preconditionFailure("an authority")
    }
  }()
  private static let reply = TokenErrorReply(error: "invalid_client", suberror: nil)

  @Test(
    arguments: [
      (.token(AcquisitionError(.unreached(.closed(host: "h")), retryAfter: 7)), 503, "temporarily_unavailable"),
      (.token(AcquisitionError(.cacheUnread, retryAfter: 2)), 503, "temporarily_unavailable"),
      (.token(AcquisitionError(.document(.issuer(found: "x")), retryAfter: 9)), 503, "temporarily_unavailable"),
      (.callerIssuerUnavailable, 503, "temporarily_unavailable"),
      (.token(AcquisitionError(TokenFailure(.refused(reply), status: 401))), 400, "unauthorized_client"),
      (.token(AcquisitionError(.interaction(interaction))), 400, "invalid_grant"),
      (.caller(.untrustedToken), 400, "invalid_request"), (.caller(.unknownHost), 421, "access_denied"),
      (.caller(.unknownPeer), 403, "access_denied"), (.program(.client), 401, "invalid_client"),
      (.program(.secret), 401, "invalid_client"), (.program(.unknownScope), 400, "invalid_scope"),
      (.program(.unknownResource), 400, "invalid_target"), (.program(.unknownIdentity), 400, "invalid_request"),
      (.program(.grant), 400, "unsupported_grant_type"), (.program(.metadata), 400, "invalid_request"),
      (.program(.browser), 403, "access_denied"), (.delivery(.tooLarge), 413, "invalid_request"),
    ] as [(ExchangeFailure, Int, String)])
  func `a mistake is a status that no SDK repeats, an outage one that each repeats`(
    failure: ExchangeFailure, status: Int, code: String
  ) throws {
    let response = ProxyResponse(program: failure, ProblemDocument(failure), words: "Say \"it\\.")
    #expect(response.status == status)
    let members = try #require(JSONValue(json: response.body)?.members)
    #expect(members["error"]?.text == code && members["statusCode"] == .integer(Int64(status)))
    #expect(members["error_description"]?.text == "Say 'it'." && members["message"]?.text == "Say 'it'.")
    let isClients = if case .program(.client) = failure { true } else { false }
    #expect(response.fields.contains { "\($0.name)" == "WWW-Authenticate" } == isClients)
  }

  @Test(
    arguments: [
      (
        .tokenEndpoint, ProgramWish(scope: "a b"),
        #"{"access_token":"t","token_type":"Bearer","expires_in":60,"scope":"a b"}"#
      ),
      (.tokenEndpoint, ProgramWish(), #"{"access_token":"t","token_type":"Bearer","expires_in":60}"#),
      (
        .imds, ProgramWish(resource: "https://r/"),
        #"{"access_token":"t","token_type":"Bearer","client_id":"c","expires_in":"60","expires_on":"1060","#
          + #""not_before":"1000","resource":"https://r/"}"#
      ),
    ] as [(ProgramShape, ProgramWish, String)])
  func `a token has the members of its shape`(shape: ProgramShape, wish: ProgramWish, json: String) {
    let lifetime = TokenLifetime(obtainedAt: UnixTime(1000), refreshAt: UnixTime(1030), expiresAt: UnixTime(1060))
    let answer = ProgramAnswer(shape: shape, wish: wish, clientID: "c", expiresIn: 60, lifetime: lifetime)
    #expect(String(decoding: answer.json(Secret("t")), as: UTF8.self) == json)
  }
}
