// `status`: asks the instance that runs with a configuration for its state, once or until it is ready.

import Bytes
import Configuration
import HTTP
import HTTPClient
import Platform
import Proxy
import Routing
import Tokens

extension StatusCommand {
  /// Between two questions of `--wait`.
  private static let pause = Duration.milliseconds(200)

  func answer(in context: CommandContext) async throws(CommandError) -> CommandAnswer {
    let settings = Result { () throws(CommandError) in try context.settings(configuration).admin }
    let network = try context.network()
    let answer = try await ask(settings, network.fetcher, in: context)
    if case .failure(let error) = settings {
      context.writeProgress(
        "bearer-proxy: warning: the configuration has mistakes; this instance runs with a former one, and its next "
          + "start would fail\n" + error.answer.text)
    }
    return answer
  }

  /// Asks until the instance is ready or the time to wait is over.
  private func ask(
    _ settings: Result<AdminSettings?, CommandError>, _ fetcher: Fetcher, in context: CommandContext
  ) async throws(CommandError) -> CommandAnswer {
    let deadline = MonotonicTime.now + .seconds(wait ?? 0)
    while true {
      var answer: Result<CommandAnswer, CommandError>
      do throws(CommandError) {
        answer = .success(
          try await once(
            try AdminDoor.all(of: configuration, settings, context.environment), fetcher, settings, in: context)
        )
      } catch {
        answer = .failure(error)
      }
      if case .success(let ready) = answer, ready.status == .done { return ready }
      if case .failure(let error) = answer, error.answer.status == .usage { throw error }
      if MonotonicTime.now >= deadline { return try answer.get() }
      do { try await Task.sleep(for: Self.pause) } catch { return try answer.get() }
    }
  }

  /// Asks at one place after the other until one answers.
  private func once(
    _ doors: [AdminDoor], _ fetcher: Fetcher, _ settings: Result<AdminSettings?, CommandError>,
    in context: CommandContext
  ) async throws(CommandError) -> CommandAnswer {
    for door in doors {
      let response: FetchResponse
      do throws(FetchError) {
        response = try await door.fetch(fetcher)(door.question("/status?format=json"))
      } catch {
        continue
      }
      if case .success(let admin?) = settings, admin.address.value.port != 0, admin.address.value != door.address {
        context.writeProgress(
          "bearer-proxy: warning: the instance listens for admin requests at \(door.address), and the configuration "
            + "says \(admin.address.value): that needs a restart\n")
      }
      return try answer(response, door)
    }
    if case .failure(let error) = settings { throw error }
    throw .failed("no instance answers at \(doors.map(\.address.description).joined(separator: " or "))")
  }

  private func answer(_ response: FetchResponse, _ door: AdminDoor) throws(CommandError) -> CommandAnswer {
    if response.status == 403 {
      throw .failed(
        "the instance at \(door.address) lets only callers who keep the rules under admin.callers ask; ask at a "
          + "loopback address or a unix socket")
    }
    guard response.status == 200, let report = JSONValue(json: response.body) else {
      throw .failed("what answers at \(door.address) says \(response.status), which is no status of bearer-proxy's")
    }
    let isReady = report.members?["ready"] == .bool(true)
    return CommandAnswer(
      text: form == .json ? report.canonicalText() + "\n" : Self.lines(statusText(report)),
      status: isReady ? .done : .failed, stream: .output)
  }

  /// Providers' words are among it.
  private static func lines(_ text: String) -> String {
    text.split(separator: "\n").map { String($0).printable(limit: 2000) + "\n" }.joined()
  }
}
