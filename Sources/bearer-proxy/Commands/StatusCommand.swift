// `status`: asks the instance that runs with a configuration for its state, once or until it is ready.

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
    let settings: Result<AdminSettings?, CommandError>
    do throws(CommandError) {
      settings = .success(try context.settings(options.configuration).admin)
    } catch {
      settings = .failure(error)
    }
    let network = try context.network()
    let answer = try await ask(settings, network.fetcher, in: context)
    if case .failure(let error) = settings {
      context.writeProgress(
        "bearer-proxy: warning: the configuration has mistakes; this instance runs with a former one, and its next "
          + "start would fail\n" + error.answer.text)
    }
    return answer
  }

  /// The places to ask, the recorded ones first, and what to say of the configuration's own.
  private func doors(
    _ settings: Result<AdminSettings?, CommandError>, in context: CommandContext
  ) throws(CommandError) -> [AdminDoor] {
    let admin: AdminSettings?
    let recorded = InstanceRecord.admins(of: options.configuration, environment: context.environment)
    switch settings {
    case .success(let found): admin = found
    case .failure where !recorded.isEmpty: admin = nil
    case .failure(let error): throw error
    }
    var doors = recorded.filter { $0 != admin?.address.value }.compactMap { AdminDoor($0, secret: nil) }
    if let admin, let door = AdminDoor(admin) { doors.append(door) }
    if !doors.isEmpty { return doors }
    guard admin != nil else {
      throw .usage("\(options.configuration) has no 'admin' section, so nobody can be asked; add admin: {address: …}")
    }
    throw .usage(
      "the admin listener's port is chosen by the system, and no running instance has recorded it; give it a port")
  }

  /// Asks until the instance is ready or the time to wait is over.
  private func ask(
    _ settings: Result<AdminSettings?, CommandError>, _ fetcher: Fetcher, in context: CommandContext
  ) async throws(CommandError) -> CommandAnswer {
    let deadline = MonotonicTime.now + .seconds(options.wait ?? 0)
    while true {
      var answer: Result<CommandAnswer, CommandError>
      do throws(CommandError) {
        answer = .success(try await once(try doors(settings, in: context), fetcher, settings, in: context))
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
        response = try await door.fetch(fetcher)(door.question)
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

/// The way to an admin listener for another process of its machine.
private struct AdminDoor {
  let address: SocketAddress
  private let url: HTTPURL
  private let socket: SocketAddress
  private let secret: CallerRules.Header?

  /// nil if the port is not known beforehand.
  init?(_ settings: AdminSettings) {
    // At an address of this machine every process may ask; a secret would be disclosed to a process that took the port.
    // 0.0.0.0 and :: are every address of the machine, loopback among them.
    let address = settings.address.value
    let isOwn = address.isLoopback || address.ipAddress?.isUnspecified == true
    self.init(address, secret: isOwn ? nil : settings.callers.rules.header)
  }

  /// The same for an address alone.
  init?(_ address: SocketAddress, secret: CallerRules.Header?) {
    self.address = address
    self.secret = secret
    let isEverywhere = address.ipAddress?.isUnspecified == true
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
