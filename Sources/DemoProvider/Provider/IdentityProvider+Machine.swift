internal import Bytes
internal import Tokens

extension IdentityProvider {
  /// Answers a request to the service of the sample machine, which hands out its identity's tokens as Azure's instance
  /// metadata service does.
  func machineAnswer(_ request: DemoRequest, now: UnixTime) -> DemoAnswer {
    typealias Sample = DemoDirectory.Sample
    func refusal(_ words: String, error: String = "invalid_request") -> DemoAnswer {
      DemoAnswer(400, ["error": error, "error_description": words], note: "\(error): \(words)")
    }
    guard request.path == "/metadata/identity/oauth2/token" else { return DemoAnswer(404, ["error": "not_found"]) }
    guard request[field: "metadata"] == "true" else {
      return refusal("Required metadata header not specified", error: "bad_request_102")
    }
    guard request[field: "x-forwarded-for"] == nil else { return refusal("A proxied request") }
    do throws(Refusal) {
      let query = try request.form()
      guard query["api-version"] == "2018-02-01" else { return refusal("Unknown api-version") }
      for (name, own) in [("client_id", Sample.machine), ("object_id", Sample.machineObject), ("msi_res_id", "")] {
        if let asked = query[name], asked.lowercased() != own { return refusal("Identity not found") }
      }
      let resource = query["resource"] ?? ""
      let machine = try directory.application(Sample.machine, in: nil)
      // The token is for an API, or for the exchange that proves other applications.
      let claims: Members =
        resource == FederatedCredential.exchange
        ? ["sub": machine.object, "oid": machine.object, "aud": resource]
        : applicationClaims(of: machine, at: try directory.api(resource))
      let lifetime = accessTokenLifetime
      // Numbers are strings here, as the original has them.
      return DemoAnswer(
        200,
        [
          "access_token": try signed(claims, directory.tenants[0], lifetime: lifetime, now: now),
          "client_id": machine.client, "expires_in": "\(lifetime)", "expires_on": "\((now + lifetime).seconds)",
          "not_before": "\(now.seconds)", "resource": resource, "token_type": "Bearer",
        ], note: "token for the machine at \(resource)")
    } catch {
      return refusal("The resource principal was not found in the tenant", error: "invalid_resource")
    }
  }
}
