// Redis servers in the forms in which clouds run them: one, a primary with a replica and sentinels, or a cluster.

/// The servers of one form.
package struct RedisGroup: Sendable {
  package enum Form: String, Sendable, CaseIterable { case single, sentinels, cluster }

  package static let primary = "main"
  package static let user = "proxy"
  package static let password = "kept-s3cret"
  package static let sentinelUser = "asking"
  package static let sentinelPassword = "watched-s3cret"
  /// The commands that a user's rules have to allow with sentinels or a cluster, as in config/cache.md.
  package static let commands = RedisPeer.commands + " +wait"

  package let form: Form
  /// The servers. A test that ends one restarts it here.
  package var servers: [RedisPeer] = []
  private let sentinels: [(port: Int, process: ChildProcess)]
  private let isSecure: Bool
  /// The command that lets the user in.
  private let user: [String]

  /// Starts the servers and waits until they know each other.
  /// - Parameter tls: `RedisPeer.tls`, for servers and sentinels that speak TLS.
  package init(_ form: Form, prefix: String = "bp:", tls: [String] = []) async throws {
    (self.form, isSecure) = (form, !tls.isEmpty)
    let tls = tls.isEmpty ? [] : tls + ["--tls-replication", "yes", "--tls-cluster", "yes"]
    var options = tls
    user =
      ["acl", "setuser", Self.user, "on", ">" + Self.password, "~\(prefix)*", "resetchannels"]
      + Self.commands.split(separator: " ").map(String.init)
    let count = [.single: 1, .sentinels: 2, .cluster: 6][form] ?? 1
    if form == .cluster {
      options += ["--cluster-enabled", "yes", "--cluster-node-timeout", "3000", "--repl-diskless-sync-delay", "0"]
    }
    // By custom 10,000 above the other port, among the kernel's own choices.
    let buses = form == .cluster ? try (0..<count).map { _ in try freePort() } : []
    for index in 0..<count {
      let replica =
        index == 1 && form == .sentinels
        ? ["--replicaof", "127.0.0.1 \(servers[0].port)", "--repl-diskless-sync-delay", "0"] : []
      let server = try await RedisPeer(
        in: TemporaryDirectory(), options + replica + (buses.isEmpty ? [] : ["--cluster-port", "\(buses[index])"]),
        client: isSecure ? ["--tls", "--insecure"] : [])
      _ = try await server.cli(user)
      servers.append(server)
    }
    if form == .cluster {
      let addresses = zip(servers, buses).map { "127.0.0.1:\($0.port)@\($1)" }
      _ = try await servers[0].cli(
        ["--cluster", "create"] + addresses + ["--cluster-replicas", "1", "--cluster-yes"])
    }
    var sentinels: [(port: Int, process: ChildProcess)] = []
    if form == .sentinels {
      for _ in 0..<3 { sentinels.append(try await Self.sentinel(of: servers[0].port, tls)) }
    }
    self.sentinels = sentinels
    let isReady = try await eventually { try await isComplete() }
    if !isReady { throw TestSupportError("the Redis servers do not find each other") }
  }

  private static func sentinel(of port: Int, _ tls: [String]) async throws -> (port: Int, process: ChildProcess) {
    let directory = try TemporaryDirectory()
    let own = try freePort()
    var lines = [
      tls.isEmpty ? "port \(own)" : "port 0", "dir \(directory.path)",
      "sentinel monitor \(primary) 127.0.0.1 \(port) 2",
      "sentinel down-after-milliseconds \(primary) 3000", "sentinel failover-timeout \(primary) 6000",
      "user \(sentinelUser) on >\(sentinelPassword) resetchannels -@all +sentinel|get-master-addr-by-name",
    ]
    let secure = tls.map { $0 == "PORT" ? "\(own)" : $0 }
    for index in stride(from: 0, to: secure.count, by: 2) where secure[index] != "--tls-cluster" {
      lines.append("\(secure[index].dropFirst(2)) \(secure[index + 1])")
    }
    let file = try directory.write(lines.joined(separator: "\n") + "\n", to: "sentinel.conf")
    let process = try ChildProcess("sentinel-\(own)", ["redis-sentinel", file], in: directory)
    try await waitForPort(own, of: process)
    return (own, process)
  }

  /// True if each part has a primary and a replica, and the servers that replace one know it.
  private func isComplete() async throws -> Bool {
    switch form {
    case .single: return true
    case .sentinels:
      for sentinel in sentinels {
        let quorum = try await cli(sentinel.port, ["sentinel", "ckquorum", Self.primary])
        let replicas = try await cli(sentinel.port, ["sentinel", "replicas", Self.primary])
        guard quorum.contains("OK 3 usable"), replicas.contains("slave") else { return false }
      }
      return try await servers[0].cli("info", "replication").contains("state=online")
    case .cluster:
      for server in servers {
        let state = try await server.cli("cluster", "info")
        let role = try await server.cli("info", "replication")
        guard state.contains("cluster_state:ok"), role.contains("state=online") || role.contains("link_status:up")
        else {
          return false
        }
      }
      return true
    }
  }

  private func cli(_ port: Int, _ arguments: [String]) async throws -> String {
    try await run(
      ["redis-cli", "-h", "127.0.0.1", "-p", "\(port)"] + (isSecure ? ["--tls", "--insecure"] : []) + arguments
    ).output
  }

  /// The URL to configure.
  package var url: String {
    let ports = form == .sentinels ? sentinels.map(\.port) : servers.map(\.port)
    return "redis\(isSecure ? "s" : "")://" + ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
  }

  /// The keys of the configuration beside the URL.
  package var keys: String {
    switch form {
    case .single: ""
    case .sentinels:
      ", sentinel: \(Self.primary), sentinel_user: \(Self.sentinelUser), sentinel_password: \(Self.sentinelPassword)"
    case .cluster: ", cluster: true"
    }
  }

  /// The index of the server that has a key with this part in its name, and takes writes.
  package func owner(of part: String) async throws -> Int {
    for (index, server) in servers.enumerated() {
      let role = try await cli(server.port, ["info", "replication"])
      let keys = try await cli(server.port, ["--raw", "keys", "*\(part)*"])
      if role.contains("role:master"), keys.contains(part) { return index }
    }
    throw TestSupportError("no server has \(part)")
  }

  /// Starts a killed server again, with what it held.
  package mutating func restart(_ index: Int) async throws {
    try await servers[index].restart()
    _ = try await servers[index].cli(user)
  }

  /// Sends a command to every running server.
  package func all(_ arguments: String...) async throws {
    for server in servers { _ = try await cli(server.port, arguments) }
  }
}
