// Redis servers on two networks that a test cuts from each other, and this process on both. Takes root.

import Glibc

/// Two network namespaces on a bridge. In the first is one primary; in the second are a replica of it, and those who
/// choose another primary: three sentinels, or the other nodes of a cluster.
package final class RedisPartition: Sendable {
  package let form: RedisGroup.Form
  private let bridge: String
  private let network: String
  private let directories: [TemporaryDirectory]
  private let processes: [ChildProcess]
  private static let port = 6379

  /// The host of the primary that is cut off.
  package var primary: String { network + ".2" }
  private var others: String { network + ".3" }

  /// The URL of the sentinels, or of nodes of the cluster.
  package var url: String {
    let ports = form == .sentinels ? (0..<3).map { 26379 + $0 } : (1..<6).map { Self.port + $0 }
    return "redis://" + ports.map { "\(others):\($0)" }.joined(separator: ",")
  }

  /// Starts the servers and waits until they know each other.
  /// - Parameter options: further options of the servers.
  package init(_ form: RedisGroup.Form, _ options: [String] = []) async throws {
    self.form = form
    // One for each of this process, and of others on the machine.
    let number = Int.random(in: 0..<1 << 14)
    (bridge, network) = ("bp\(number)", "10.\(64 + number % 128).\(number / 128)")
    let count = form == .sentinels ? 2 : 6
    directories = try (0..<count + 3).map { _ in try TemporaryDirectory() }
    let (bridge, network) = (bridge, network)
    var script = [
      "ip link add \(bridge) type bridge", "ip addr add \(network).1/24 dev \(bridge)", "ip link set \(bridge) up",
    ]
    for side in ["2", "3"] {
      let name = "\(bridge)-\(side)"
      script += [
        "ip netns add \(name)", "ip link add \(name) type veth peer name eth0 netns \(name)",
        "ip link set \(name) master \(bridge) up", "ip -n \(name) addr add \(network).\(side)/24 dev eth0",
        "ip -n \(name) link set eth0 up", "ip -n \(name) link set lo up",
      ]
    }
    try await succeed(["sh", "-ec", script.joined(separator: "; ")])
    var processes: [ChildProcess] = []
    for index in 0..<count {
      let role =
        form == .cluster
        ? ["--cluster-enabled", "yes", "--cluster-node-timeout", "5000"]
        : index > 0 ? ["--replicaof", "\(network).2 \(Self.port)"] : []
      let port = form == .cluster ? Self.port + index : Self.port
      processes.append(
        try ChildProcess(
          "redis-\(index)",
          [
            "ip", "netns", "exec", "\(bridge)-\(index == 0 ? 2 : 3)", "redis-server", "--port", "\(port)", "--bind",
            "0.0.0.0", "--protected-mode", "no", "--dir", directories[index].path, "--save", "", "--repl-timeout", "5",
            "--repl-ping-replica-period", "1", "--repl-diskless-sync-delay", "0",
          ] + role + options, in: directories[index]))
    }
    for index in 0..<(form == .sentinels ? 3 : 0) {
      let own = directories[count + index]
      let file = try own.write(
        """
        port \(26379 + index)
        protected-mode no
        dir \(own.path)
        sentinel monitor \(RedisGroup.primary) \(network).2 \(Self.port) 2
        sentinel down-after-milliseconds \(RedisGroup.primary) 2000
        sentinel failover-timeout \(RedisGroup.primary) 4000

        """, to: "sentinel.conf")
      processes.append(
        try ChildProcess(
          "sentinel-\(index)", ["ip", "netns", "exec", "\(bridge)-3", "redis-sentinel", file], in: own))
    }
    self.processes = processes
    try await join(count)
  }

  private func join(_ count: Int) async throws {
    for index in 0..<count {
      let isThere = try await eventually {
        try await cli(index == 0 ? primary : others, index, "ping").contains("PONG")
      }
      if !isThere { throw TestSupportError("a Redis server does not start") }
    }
    if form == .cluster {
      let nodes = (0..<count).map { "\($0 == 0 ? primary : others):\(Self.port + $0)" }
      try await succeed(
        ["redis-cli", "--cluster", "create"] + nodes + ["--cluster-replicas", "1", "--cluster-yes"])
    }
    let isReady = try await eventually {
      let state = try await cli(primary, 0, "info", "replication")
      guard state.contains("role:master"), state.contains("state=online") else { return false }
      if form == .cluster {
        for index in 0..<count {
          let info = try await cli(index == 0 ? primary : others, index, "cluster", "info")
          guard info.contains("cluster_state:ok") else { return false }
        }
        return true
      }
      let quorum = try await sentinel("ckquorum")
      let replicas = try await sentinel("replicas")
      return quorum.contains("OK 3 usable") && replicas.contains("slave")
    }
    if !isReady { throw TestSupportError("the Redis servers do not find each other") }
  }

  deinit {
    for process in processes { process.send(SIGKILL) }
    // A namespace that a dying process still has would keep its link.
    let script =
      "for side in 2 3; do ip link del \(bridge)-$side; ip netns del \(bridge)-$side; done; ip link del \(bridge)"
    var process = pid_t()
    var arguments = [strdup("sh"), strdup("-c"), strdup("{ \(script); } 2>/dev/null"), nil]
    var status: Int32 = 0
    if posix_spawn(&process, "/bin/sh", nil, nil, &arguments, environ) == 0 { waitpid(process, &status, 0) }
    for argument in arguments { free(argument) }
  }

  /// Cuts the two networks from each other. This process still reaches both.
  package func cut() async throws { try await route("add") }

  package func heal() async throws { try await route("del") }

  private func route(_ verb: String) async throws {
    for (side, other) in [("2", "3"), ("3", "2")] {
      try await succeed(["ip", "-n", "\(bridge)-\(side)", "route", verb, "blackhole", "\(network).\(other)/32"])
    }
  }

  /// True if another server has become primary in the place of the one that is cut off.
  package func isReplaced() async throws -> Bool {
    if form == .sentinels { return try await sentinel("get-master-addr-by-name").contains(others) }
    let primaries = try await cli(others, 1, "cluster", "nodes").split(separator: "\n").filter {
      $0.contains("master") && !$0.contains("fail")
    }
    return primaries.count == 3 && !primaries.contains { $0.contains(primary + ":") }
  }

  /// True if the primary that was cut off follows another one.
  package func isDemoted() async throws -> Bool {
    try await cli(primary, 0, "info", "replication").contains("role:slave")
  }

  /// A server's answer to a command.
  private func cli(_ host: String, _ index: Int, _ arguments: String...) async throws -> String {
    let port = form == .cluster ? Self.port + index : Self.port
    return try await run(["redis-cli", "-h", host, "-p", "\(port)"] + arguments).output
  }

  /// A sentinel's answer about the primary.
  private func sentinel(_ question: String) async throws -> String {
    try await run(
      ["redis-cli", "-h", others, "-p", "26379", "--raw", "sentinel", question, RedisGroup.primary]
    ).output
  }
}
