// The last link of a route whose token is handed out: the endpoint is asked as the engine would ask it.

import Bytes
import Configuration
import Glibc
import HTTP
import HTTPClient
import Identity
import Platform
import Routing
import Tokens

/// A question for the token of a route, to the running proxy.
struct HandOutTrial: Sendable {
  let listener: ListenerSettings
  let fetcher: Fetcher
  /// The user and the group of this process.
  var users: (user: UInt32, group: UInt32) = (geteuid(), getegid())

  func step(for route: RouteSettings) async -> CheckStep {
    let rules = listener.callers.rules
    let address = listener.address.value
    if route.token.isCallers { return skipped("each caller's own token is exchanged") }
    if listener.tls != nil { return skipped("\(address) has TLS, which only the proxy in front is set up for") }
    if let peers = rules.peers, !peers.users.contains(users.user), !peers.groups.contains(users.group) {
      return skipped("callers.unix at \(address) admits other users; run this as the user of the proxy in front")
    }
    let target = "/.bearer/authorize/\(route.name)"
    guard let door = AdminDoor(address, secret: rules.header) else {
      return skipped("the port of \(address) is not known beforehand")
    }
    let trial = CheckTrial(.handOut)
    do throws(FetchError) {
      let response = try await door.fetch(fetcher, within: .seconds(30))(door.question(target))
      return step(response, at: address, trial)
    } catch {
      return skipped("no bearer-proxy answers at \(address): \(error.detail)")
    }
  }

  private func step(_ response: FetchResponse, at address: SocketAddress, _ trial: CheckTrial) -> CheckStep {
    let words = JSONValue(json: response.body)?.members
    switch response.status {
    case 200:
      let seconds = response.value(of: "x-bearer-expires").flatMap { Int64($0) }
      let given = seconds.map { "a token, good for \(Tokens.words(seconds: $0))" } ?? "the field of the route"
      return trial.end(.ok, "\(address) gives \(given)")
    default:
      let title = words?["title"]?.text.map { ": \($0)" } ?? ""
      return trial.end(
        response.status == 401 ? .interactionRequired : .failed, "\(address) answers \(response.status)\(title)",
        advice: words?["detail"]?.text)
    }
  }

  private func skipped(_ reason: String) -> CheckStep {
    CheckStep(name: .handOut, verdict: .skipped, detail: "not tried: \(reason)")
  }
}
