// `token --format`: the running proxy's token, in the form that a program expects of a command that it calls.

import Bytes
import Configuration
import HTTP
import HTTPClient
import Platform
import Tokens

extension TokenCommand {
  /// Asks the running proxy for a route's token, and prints it for a program.
  func answer(as format: TokenFormat, in context: CommandContext) async throws(CommandError) -> CommandAnswer {
    let settings = try context.settings(configuration)
    let route = try settings.route(self.route, in: configuration)
    // git and docker ask every helper to keep and to forget what another one gave.
    if let operation, operation != .get {
      return CommandAnswer(text: operation == .list ? "{}\n" : "", status: .done)
    }
    if context.terminal.showsOutput, !reveal {
      throw .usage("this would show the token on the terminal; if that is meant, add --reveal")
    }
    let form: TokenForm
    switch format {
    case .plain: form = .plain
    case .json: form = .json
    case .kubectl: form = .kubectl(TokenForm.kubectlVersion(context.environment))
    case .git:
      let request = GitRequest(context.terminal.readRequest())
      // For another server git asks the next helper.
      guard request.isFor(route.upstream.value) else { return CommandAnswer(text: "", status: .done) }
      form = .git(request, username: username)
    case .docker:
      let server = context.terminal.readRequest().first ?? ""
      guard TokenForm.isServer(server, route.upstream.value) else {
        // The words by which docker knows that there are none.
        return CommandAnswer(text: "credentials not found in native keychain\n", status: .failed, stream: .output)
      }
      form = .docker(server: server, username: username)
    }
    return CommandAnswer(text: form.text(try await token(for: format, settings, in: context)), status: .done)
  }

  private func token(
    for format: TokenFormat, _ settings: Settings, in context: CommandContext
  ) async throws(CommandError) -> GivenToken {
    let doors = try AdminDoor.all(of: configuration, .success(settings.admin), context.environment)
      .filter { $0.address.ipAddress == nil }
    if doors.isEmpty {
      throw .usage(
        "the running proxy gives tokens on a unix socket only: set admin: {address: "
          + "\"unix:/run/bearer-proxy/admin.sock\"}")
    }
    let fetcher = try context.network().fetcher
    for door in doors {
      let response: FetchResponse
      do throws(FetchError) {
        let question = door.question("/token?route=\(route)&program=\(format.rawValue)")
        response = try await door.fetch(fetcher, within: .seconds(30))(question)
      } catch {
        continue
      }
      if let token = GivenToken(response) { return token }
      throw refusal(response, door)
    }
    throw .failed("no instance answers at \(doors.map(\.address.description).joined(separator: " or "))")
  }

  private func refusal(_ response: FetchResponse, _ door: AdminDoor) -> CommandError {
    if response.status == 403 {
      return .failed(
        "the instance at \(door.address) gives tokens only to its own user and root; run the command as one of them")
    }
    guard let members = JSONValue(json: response.body)?.members, let reason = members["error"]?.text else {
      return .failed("what answers at \(door.address) says \(response.status), which is no token of bearer-proxy's")
    }
    let next = members["next"]?.text?.printable(limit: 1000) ?? ""
    return .failed(
      "no token for route '\(route)': \(reason): \(members["detail"]?.text ?? "")",
      status: response.status == 401 ? .interactionRequired : .failed, advice: next)
  }
}
