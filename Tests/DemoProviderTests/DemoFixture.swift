// One provider, one API and one clock for this folder's tests. Making an RSA key takes a tenth of a second, so once.

import Bytes
import HTTPServer
import Platform
import TestSupport
import Testing
import Tokens

@testable import DemoProvider

enum DemoFixture {
  typealias Sample = DemoDirectory.Sample

  static let now = UnixTime(1_700_000_000)
  static let origin = "https://localhost:8443"
  static let issuer = "\(origin)/\(Sample.tenant)/v2.0"
  static let key = Result { try RSAKey.generate() }

  /// The issuer that vouches for the sample portal, beside its secret.
  static let cluster = Result { try FederatedIssuer() }

  static func provider() throws -> IdentityProvider {
    let issuer = try cluster.get()
    return try IdentityProvider(
      origin: origin, key: key.get(), secret: Secret("s3cret+&="),
      federated: [FederatedCredential(issuer: issuer.name, subject: issuer.subject, keys: issuer.keys)])
  }

  /// An API that hears of a provider's events.
  static func api(_ kind: SampleAPI.Kind = .orders, of told: IdentityProvider? = nil) throws -> SampleAPI {
    try SampleAPI(kind: kind, provider: told ?? provider())
  }

  /// A request to the token endpoint with a form body.
  static func tokenRequest(
    _ form: String = form(), tenant: String = Sample.tenant, fields: [(name: String, value: String)] = []
  ) -> DemoRequest {
    DemoRequest(method: "POST", path: "/\(tenant)/oauth2/v2.0/token", fields: fields, body: .whole(Array(form.utf8)))
  }

  /// The form that the sample application sends.
  static func form(
    client: String = Sample.portal, secret: String = "s3cret%2B%26%3D", scope: String = "api://orders/.default"
  ) -> String {
    "grant_type=client_credentials&client_id=\(client)&client_secret=\(secret)&scope=\(scope)"
  }

  /// A good token for the sample API.
  static func token(client: String = Sample.portal) throws -> String {
    let answer = try provider().answer(tokenRequest(form(client: client)), now: now)
    return try #require(json(answer)["access_token"]?.text)
  }

  static func json(_ answer: DemoAnswer) throws -> [String: JSONValue] {
    try #require(JSONValue(json: Array(answer.text.utf8))?.members, "\(answer.text)")
  }
}

extension [String: JSONValue] {
  /// The failure that a reply of the token endpoint reports: its error, Entra's number, and the further error.
  var refusal: [String] {
    guard case .array(let codes) = self["error_codes"] ?? .array([]) else { return [] }
    return [
      self["error"]?.text ?? "", codes.compactMap(\.seconds).map(String.init).joined(), self["suberror"]?.text ?? "",
    ]
  }
}

extension DemoAnswer {
  var status: Int { response.status }

  var text: String {
    guard case .whole(let bytes) = response.content else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The first field of this lower-case name.
  func field(_ name: String) -> String? { response.fields.first { $0.name.lowercased() == name }?.value }
}
