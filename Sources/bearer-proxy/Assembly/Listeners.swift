// The binding of every address in the settings. Each address that cannot be bound is reported at its place, all at
// once, and then nothing stays bound.

import Bytes
import Configuration
import Glibc
import Identity
import Platform
import Proxy
import Routing

/// The sockets of a process, bound and listening.
struct BoundListeners {
  /// The admin listener's socket, and who may call there.
  struct Admin {
    let socket: BoundSocket
    var callers: AdminCallers
  }

  let traffic: [ProxyListener]
  let admin: Admin?
  /// The address of each of `traffic`.
  private let addresses: [SocketAddress]

  /// Takes each address from `former`, from what the process was started with, or binds it. The admin listener stays
  /// at its address of the start. If an address cannot be bound, nothing has changed.
  /// - Parameter checks: judge the tokens that callers bring.
  init(
    _ configuration: LoadedConfiguration, loops: Int, inherited: inout InheritedSockets, checks: CallerTokenChecks,
    succeeding former: BoundListeners?
  ) throws(ConfigurationError) {
    let settings = configuration.settings
    var issues: [ConfigurationIssue] = []
    var kept = former.map { former in zip(former.addresses, former.traffic).map { (address: $0, listener: $1) } } ?? []
    var opened: [ProxyListener] = []
    traffic = zip(settings.listeners, configuration.contexts.listeners).compactMap { listener, tls in
      if let index = kept.firstIndex(where: { $0.address == listener.address.value }) {
        return ProxyListener(kept.remove(at: index).listener.place, listener, tls: tls, checks: checks)
      }
      guard let sockets = Self.bind(listener.address, count: loops, &inherited, &issues) else { return nil }
      opened.append(ProxyListener(ListenerPlace(sockets), listener, tls: tls, checks: checks))
      return opened.last
    }
    addresses = settings.listeners.map(\.address.value)
    var admin = former?.admin
    if let settings = settings.admin {
      let callers = AdminCallers(settings, checks: checks)
      if former == nil, let socket = Self.bind(settings.address, count: 1, &inherited, &issues)?.first {
        admin = Admin(socket: socket, callers: callers)
      }
      admin?.callers = callers
    }
    self.admin = admin
    if issues.isEmpty { return }
    for listener in opened { listener.close() }
    if former == nil {
      removeAdminSocketFile()
      admin?.socket.close()
    }
    throw ConfigurationError(issues)
  }

  private static func bind(
    _ address: Located<SocketAddress>, count: Int, _ inherited: inout InheritedSockets,
    _ issues: inout [ConfigurationIssue]
  ) -> [BoundSocket]? {
    if let socket = inherited.take(address.value) { return [socket] }
    do throws(SystemError) {
      return try BoundSocket.bind(address.value, count: count)
    } catch {
      issues.append(address.issue(listenFailure(error, at: address.value), mayPass: error.isPassingForAddress))
      return nil
    }
  }

  /// Removes the file of the admin listener's unix socket, which would outlive the process. The traffic listeners' go
  /// when they stop listening.
  func removeAdminSocketFile() { admin?.socket.removeSocketFile() }
}

/// The reason why the process cannot listen at `address`, with the cure if the reason does not imply it.
func listenFailure(_ error: SystemError, at address: SocketAddress) -> String {
  error.number == EACCES && (1..<1024).contains(address.port)
    ? "cannot listen on \(address): \(error.reason); "
      + "a port below 1024 needs CAP_NET_BIND_SERVICE at the start, or a socket unit of systemd"
    : "cannot listen on \(address): \(error.reason)"
}

/// The hosts a listener answers to: the configured ones, its own address, and for loopback `localhost`.
private func acceptedNames(_ hosts: AcceptedHosts, _ address: SocketAddress) -> [String]? {
  guard case .names(var names) = hosts else { return nil }
  // No browser reaches a unix socket, so there is no name to rebind; clients send whatever they like.
  guard address.ipAddress != nil else { return names.isEmpty ? nil : Array(names) }
  names.insert(address.host)
  if address.isLoopback { names.insert("localhost") }
  return Array(names)
}

extension AdminCallers {
  fileprivate init(_ settings: AdminSettings, checks: CallerTokenChecks) {
    let own = acceptedNames(.names([]), settings.address.value)
    // At an address that other machines reach, they call it by names that are not known here.
    let isReached = settings.callers.rules.isOpen || !settings.address.value.isLoopback
    self.init(
      hosts: isReached ? nil : own, localHosts: (own ?? []) + ["localhost", "127.0.0.1", "::1"],
      rules: settings.callers.rules, tokenCheck: settings.callers.issuer.map(checks.check))
  }
}

extension ProxyListener {
  fileprivate init(
    _ place: ListenerPlace, _ settings: ListenerSettings, tls: TLSContext?, checks: CallerTokenChecks
  ) {
    self.init(
      place, names: acceptedNames(settings.hosts, settings.address.value),
      rules: settings.callers.rules, tokenCheck: settings.callers.issuer.map(checks.check), tls: tls,
      callerTrust: settings.callerTrust)
  }
}

extension ListenerSettings {
  /// The contents of the authorities' file of callers' certificates.
  fileprivate var callerTrust: [UInt8]? {
    callers.certificateTrust.map { contentDigest(of: $0.value) ?? [] }
  }
}

/// The output of access records.
struct AccessLog {
  /// The file's path; nil for standard output.
  let path: String?
  /// nil: nowhere.
  let output: OutputFile?

  /// Opens the file that the settings name, unless `former` has it open.
  init(_ settings: LogSettings, succeeding former: AccessLog?) throws(ConfigurationError) {
    guard settings.access else {
      (path, output) = (nil, nil)
      return
    }
    guard let file = settings.accessFile else {
      (path, output) = (nil, .standardOutput)
      return
    }
    path = file.value
    if let former, former.path == file.value, let open = former.output {
      output = open
      return
    }
    output = try attempt(try OutputFile(path: file.value)) { (error: SystemError) in
      ConfigurationError([file.issue("cannot write access records to \(file.value): \(error.reason)")])
    }
  }
}
