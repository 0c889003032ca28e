// Owns the binding of every address in the settings. What cannot be bound is reported where it is written, all at once,
// and then nothing stays bound.

import Configuration
import Identity
import Network
import Proxy

/// The sockets of a process, bound and listening.
struct BoundListeners {
  /// The admin listener's socket, and the hosts it answers to.
  struct Admin {
    let socket: BoundSocket
    let names: [String]?
  }

  let traffic: [ServerListener]
  let admin: Admin?

  /// Binds. `tokenCheck` makes what judges the tokens that callers of a listener bring.
  init(
    _ settings: Settings, contexts: TLSContexts, loops: Int,
    tokenCheck: (CallerSettings.BearerRule) -> CallerTokenCheck
  ) throws(ConfigurationError) {
    var issues: [ConfigurationIssue] = []
    var traffic: [ServerListener] = []
    for (listener, tls) in zip(settings.listeners, contexts.listeners) {
      guard let sockets = Self.bind(listener.address, count: loops, &issues) else { continue }
      traffic.append(
        ServerListener(
          sockets, names: Self.names(listener.hosts, listener.address.value),
          rules: CallerRules(listener.callers, tokenCheck: tokenCheck), tls: tls))
    }
    admin = settings.admin.flatMap { admin in
      Self.bind(admin.address, count: 1, &issues)?.first.map {
        Admin(socket: $0, names: admin.callers.isOpen ? nil : Self.names(.names([]), admin.address.value))
      }
    }
    self.traffic = traffic
    if issues.isEmpty { return }
    for listener in traffic { listener.close() }
    removeAdminSocketFile()
    admin?.socket.close()
    throw ConfigurationError(issues)
  }

  private static func bind(
    _ address: Located<ListenerAddress>, count: Int, _ issues: inout [ConfigurationIssue]
  ) -> [BoundSocket]? {
    do throws(SystemError) {
      return try BoundSocket.bind(SocketAddress(address.value), count: count)
    } catch {
      issues.append(address.issue("cannot listen on \(address.value): \(error.reason)"))
      return nil
    }
  }

  /// The hosts a listener answers to: the configured ones, its own address, and for loopback the name everybody uses.
  private static func names(_ hosts: AcceptedHosts, _ address: ListenerAddress) -> [String]? {
    guard case .names(var names) = hosts else { return nil }
    switch address {
    case .unix:
      // No browser reaches a unix socket, so there is no name to rebind; clients send whatever they like.
      return names.isEmpty ? nil : Array(names)
    case .tcp(let host, _):
      names.insert(host)
      if SocketAddress(address).isLoopback { names.insert("localhost") }
      return Array(names)
    }
  }

  /// Removes the file of the admin listener's unix socket, which would outlive the process. The traffic listeners' go
  /// when they stop listening.
  func removeAdminSocketFile() {
    admin?.socket.removeSocketFile()
  }
}

extension SocketAddress {
  init(_ address: ListenerAddress) {
    switch address {
    case .unix(let path): self.init(SocketAddress.Kind.unix(path: path))
    case .tcp(let host, let port):
      guard let literal = SocketAddress(literal: host, port: port) else {
        preconditionFailure("the configuration accepts address literals only")
      }
      self = literal
    }
  }
}
