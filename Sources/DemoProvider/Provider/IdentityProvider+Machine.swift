// The service of the sample machine that hands out its identity's tokens, as Azure's instance metadata service does.

internal import Bytes
internal import Tokens

extension IdentityProvider {
  func machineAnswer(_ request: DemoRequest, now: UnixTime) -> DemoAnswer {
    func refusal(_ error: String, _ words: String) -> DemoAnswer {
      DemoAnswer(status: 400, json: ["error": error, "error_description": words]).noted("\(error): \(words)")
    }
    guard request.path == "/metadata/identity/oauth2/token" else {
      return DemoAnswer(status: 404, json: ["error": "not_found"])
    }
    guard request["metadata"] == "true" else {
      return refusal("bad_request_102", "Required metadata header not specified")
    }
    guard request["x-forwarded-for"] == nil else { return refusal("invalid_request", "A proxied request") }
    let query: ReplyForm
    do throws(ProviderError) {
      query = try ReplyForm(request: Array(request.query.utf8))
    } catch {
      return refusal("invalid_request", "The query cannot be read")
    }
    guard query["api-version"] == "2018-02-01" else { return refusal("invalid_request", "Unknown api-version") }
    for (name, own) in [
      ("client_id", DemoDirectory.Sample.machine), ("object_id", DemoDirectory.Sample.machineObject),
      ("msi_res_id", ""),
    ] {
      if let asked = query[name], asked.lowercased() != own { return refusal("invalid_request", "Identity not found") }
    }
    guard let resource = query["resource"], let (token, lifetime) = machineToken(for: resource, now: now) else {
      return refusal("invalid_resource", "The resource principal was not found in the tenant")
    }
    // Numbers are strings here, as the original has them.
    return DemoAnswer(
      status: 200,
      json: [
        "access_token": token.revealed(), "client_id": DemoDirectory.Sample.machine, "expires_in": "\(lifetime)",
        "expires_on": "\((now + lifetime).seconds)", "not_before": "\(now.seconds)", "resource": resource,
        "token_type": "Bearer",
      ]
    ).noted("token for the machine at \(resource)")
  }
}
