// Owns what demonstrations and tests may do to the provider from outside. It listens on loopback alone; web pages on
// this machine are kept out here.

internal import FoundationEssentials

/// Whom a task is about.
private struct TestingSubject: Decodable {
  var user: String
}

extension IdentityProvider {
  /// Does a task.
  func testing(
    _ task: TestingTask, _ request: DemoRequest, _ state: inout ProviderState
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
    case .withdraw:
      state.consents.withdraw(person: try person(request))
    }
    return DemoAnswer(status: 200, json: ["done": task.rawValue])
  }

  private func person(_ request: DemoRequest) throws(ProviderError) -> String {
    let subject: TestingSubject = try Self.decoded(request)
    guard let person = directory.person(userName: subject.user) else { throw .unsupportedParameter("user") }
    return person.user.object
  }

  private static func decoded<Value: Decodable>(_ request: DemoRequest) throws(ProviderError) -> Value {
    do {
      return try JSONDecoder().decode(Value.self, from: Data(request.body.bytes))
    } catch {
      throw .malformedBody
    }
  }
}
