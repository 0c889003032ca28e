// `status`: asking the instance that runs with a configuration how it stands, once or until it is ready.

import Bytes
import Configuration
import HTTP
import HTTPClient
import Platform
import Proxy
import Routing
import Tokens

/// Asks a running instance.
struct StatusCommand {
  let options: StatusOptions

  /// Between two questions of `--wait`.
  private static let pause = Duration.milliseconds(200)

  func answer(in context: CommandContext) async throws(CommandError) -> CommandAnswer {
    guard let admin = try context.settings(options.configuration).admin else {
      throw .usage("\(options.configuration) has no 'admin' section, so nobody can be asked; add admin: {address: …}")
    }
    guard let door = AdminDoor(admin) else {
      throw .usage("the admin listener's port is chosen by the system; give it one to be asked at")
    }
    return try await ask(door.fetch(context.network().fetcher), door)
  }

  /// Asks until the instance is ready or the time to wait is over.
  private func ask(_ fetch: Fetch, _ door: AdminDoor) async throws(CommandError) -> CommandAnswer {
    let deadline = MonotonicTime.now + .seconds(options.wait ?? 0)
    while true {
      var answer: Result<CommandAnswer, CommandError>
      do throws(CommandError) {
        answer = .success(try await once(fetch, door))
      } catch {
        answer = .failure(error)
      }
      if case .success(let ready) = answer, ready.status == .done { return ready }
      if MonotonicTime.now >= deadline { return try answer.get() }
      do { try await Task.sleep(for: Self.pause) } catch { return try answer.get() }
    }
  }

  private func once(_ fetch: Fetch, _ door: AdminDoor) async throws(CommandError) -> CommandAnswer {
    let response: FetchResponse
    do throws(FetchError) {
      response = try await fetch(door.question)
    } catch {
      throw .failed("no instance answers at \(door.address)")
    }
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
      text: options.form == .json ? report.canonicalText() + "\n" : Self.lines(statusText(report)),
      status: isReady ? .done : .failed, stream: .output)
  }
}

extension StatusCommand {
  /// Providers' words are among it.
  private static func lines(_ text: String) -> String {
    text.split(separator: "\n").map { String($0).printable(limit: 2000) + "\n" }.joined()
  }
}

/// Where an admin listener is found by another process of its machine.
private struct AdminDoor {
  let address: SocketAddress
  private let url: HTTPURL
  private let socket: SocketAddress
  private let secret: CallerRules.Header?

  /// nil where the port is not known beforehand.
  init?(_ settings: AdminSettings) {
    let address = settings.address.value
    self.address = address
    // At an address of this machine every process may ask; a secret would be disclosed to a process that took the port.
    // 0.0.0.0 and :: stand for every address of the machine, loopback among them.
    let isEverywhere = address.ipAddress?.isUnspecified == true
    secret = address.isLoopback || isEverywhere ? nil : settings.callers.rules.header
    var place = "localhost"
    switch address.kind {
    case .unix: break
    case .ipv4(_, port: 0), .ipv6(_, port: 0, _): return nil
    case .ipv4(_, let port) where isEverywhere: place = "127.0.0.1:\(port)"
    case .ipv6(_, let port, _) where isEverywhere: place = "[::1]:\(port)"
    case .ipv4, .ipv6: place = address.description
    }
    do throws(HTTPURLError) {
      url = try HTTPURL("http://\(place)/status?format=json")
    } catch {
      return nil
    }
    if address.ipAddress == nil {
      socket = address
    } else {
      guard let literal = SocketAddress(literal: url.host, port: url.port) else { return nil }
      socket = literal
    }
  }

  /// The request for the status.
  var question: FetchRequest {
    var fields = [(name: "accept", value: "application/json")]
    if let secret {
      let value = secret.value.bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
      fields.append((secret.name.lowercased(), value))
    }
    return FetchRequest(.get, url, fields: fields)
  }

  func fetch(_ fetcher: Fetcher) -> Fetch { fetcher.bound(to: socket, timeout: .seconds(5)) }
}
