// The rights of callers of the admin listener: probes are for every caller that the listener is open to, control is for
// callers that prove a right to it. CallerRules judges the proof, AdminServer answers.

internal import Bytes
internal import HTTP
package import Identity
internal import Platform
package import Routing

/// A right of a request to the admin listener. Each right includes those before it.
enum AdminRight: Comparable, CaseIterable {
  case none
  /// `/healthz`, `/readyz` without its details, `/metrics`.
  case probes
  /// `/status` and the details of `/readyz`, which name accounts.
  case status
  /// `/config`, `/log` and `/quitquitquit`.
  case control
  /// `/token`: the tokens of routes.
  case tokens

  /// The right that a path needs. A caller without control learns only that a path is not for it, not whether it
  /// exists.
  init(toReach path: String) {
    self =
      switch path {
      case "/healthz", "/readyz", "/metrics": .probes
      case "/status": .status
      case "/token": .tokens
      default: .control
      }
  }
}

struct AdminCaller: Hashable {
  /// True if it is the other end of a unix socket and runs as the proxy's own user or as root.
  var isOwner = false
  /// True if there are rules under `callers`, and it satisfies all of them.
  var keepsRules = false
  /// True if it is a process of this machine that named the listener by an address of this machine. The name matters
  /// because a page can make its own name lead here (DNS rebinding).
  var isLocal = false

  /// Its right; `isOpen`: the configuration lets anyone call.
  func right(isOpen: Bool) -> AdminRight {
    if isOwner { return .tokens }
    if keepsRules { return .control }
    if isLocal { return .status }
    return isOpen ? .probes : .none
  }
}

package struct AdminCallers: Sendable {
  private let hosts: CallerCheck
  private let localHosts: CallerCheck
  private let rules: CallerRules
  private let tokenCheck: CallerTokenCheck?

  /// `hosts`: names accepted in `Host`; nil: any. `localHosts`: those by which a process of this machine calls the
  /// listener. If `rules` are open, every caller may have the probes; a caller that satisfies all of them may control.
  /// `tokenCheck` judges the token that they demand.
  package init(hosts: [String]?, localHosts: [String], rules: CallerRules, tokenCheck: CallerTokenCheck?) {
    self.hosts = CallerCheck(names: hosts)
    self.localHosts = CallerCheck(names: localHosts)
    self.rules = rules
    self.tokenCheck = tokenCheck
  }

  /// Judges a request and its connection. A token of the caller's own is judged afterwards (`right(_:token:)`).
  /// `credentials`: a unix socket's peer; `user`: the proxy's own.
  func judge(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, at address: SocketAddress, _ credentials: PeerCredentials?,
    user: UInt32
  ) -> Result<AdminCaller, CallerRefusal> {
    if let refusal = hosts.judge(head, bytes) { return .failure(refusal) }
    var caller = AdminCaller()
    caller.isOwner = credentials.map { $0.user == user || $0.user == 0 } ?? false
    caller.isLocal = address.isLoopback && (credentials != nil || localHosts.isNamed(head, bytes))
    caller.keepsRules =
      rules.tellCallersApart && rules.judge(peer: credentials, certificateNames: []) == nil
      && rules.judgeHeader(head, bytes) == nil
    return .success(caller)
  }

  /// The right of a caller that brought this token, or none.
  func right(_ caller: AdminCaller, token: String?) async -> AdminRight {
    var caller = caller
    if caller.keepsRules, !caller.isOwner, rules.bearer != nil {
      caller.keepsRules = await isBelieved(token)
    }
    return caller.right(isOpen: rules.isOpen)
  }

  private func isBelieved(_ token: String?) async -> Bool {
    guard let token, let tokenCheck else { return false }
    do throws(CallerTokenRefusal) {
      _ = try await tokenCheck.accept(token)
      return true
    } catch {
      return false
    }
  }
}
