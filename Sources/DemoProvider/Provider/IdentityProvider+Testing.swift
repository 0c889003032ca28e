// Orders of demonstrations and tests to the provider. It listens on loopback alone; web pages on this
// machine are kept out here.

internal import Bytes
internal import HTTPServer
internal import FoundationEssentials
internal import Tokens

/// Whom a task is about.
private struct TestingSubject: Decodable {
  var user: String?
  /// A `client_id`. Of a critical event only.
  var application: String?
}

extension IdentityProvider {
  /// Does a task.
  func testing(
    _ task: TestingTask, _ request: DemoRequest, _ state: inout ProviderState, now: UnixTime
  ) throws(ProviderError) -> DemoAnswer {
    // No page of a browser, not even one of ours.
    if request["origin"] != nil || request["sec-fetch-site"] != nil { throw .crossSite }
    if task == .requests { return DemoAnswer(status: 200, json: state.requests) }
    guard request.method == "POST" else { throw .postOnly(received: request.method) }
    switch task {
    case .requests:
      break
    case .behaviour:
      state.behaviour = try Self.decoded(request)
    case .revoke:
      state.revokeSessions(of: try person(request))
    case .criticalEvent:
      // A token of this very second is older than the event, one of the next is not.
      for object in try objects(request) { state.tokensCountFrom[object] = now + 1 }
    case .withdraw:
      state.consents.withdraw(person: try person(request))
    }
    return DemoAnswer(status: 200, json: ["done": task.rawValue])
  }

  /// Since when the access tokens about `object` count; nil: since ever. This is what an API learns of critical events.
  func tokensCountFrom(object: String) -> UnixTime? { withState { $0.tokensCountFrom[object] } }

  private func person(_ request: DemoRequest) throws(ProviderError) -> String { try known(request).user.object }

  private func known(_ request: DemoRequest) throws(ProviderError) -> Person {
    let subject: TestingSubject = try Self.decoded(request)
    guard let person = subject.user.flatMap(directory.person(userName:)) else { throw .unsupportedParameter("user") }
    return person
  }

  /// The name of a person, or an application, in the tokens of every tenant.
  private func objects(_ request: DemoRequest) throws(ProviderError) -> [String] {
    let subject: TestingSubject = try Self.decoded(request)
    guard let client = subject.application else {
      let person = try known(request)
      return directory.tenants.compactMap { person.object(in: $0) }
    }
    let objects = directory.tenants.compactMap { $0.application(client)?.object }
    if objects.isEmpty { throw .unsupportedParameter("application") }
    return objects
  }

  private static func decoded<Value: Decodable>(_ request: DemoRequest) throws(ProviderError) -> Value {
    do {
      return try JSONDecoder().decode(Value.self, from: Data(request.body.bytes))
    } catch {
      throw .malformedBody
    }
  }
}
