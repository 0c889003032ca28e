// A primary on one network, its replica and sentinels on another, and this process on both: networks that a test cuts
// from each other. Takes root.

import Glibc

/// Two network namespaces on a bridge, with a Redis primary in one, and a replica and three sentinels in the other.
package final class RedisPartition: Sendable {
  private let bridge: String
  private let network: String
  private let directories: [TemporaryDirectory]
  private let processes: [ChildProcess]
  package static let port = 6379

  package var primary: String { network + ".2" }
  package var replica: String { network + ".3" }
  /// The URL of the sentinels.
  package var url: String { "redis://" + (0..<3).map { "\(replica):\(26379 + $0)" }.joined(separator: ",") }

  package init() async throws {
    let number = Int(getpid())
    bridge = "bp\(number % 1_000_000)"
    network = "10.\(64 + number % 128).\(number / 128 % 256)"
    let directories = try (0..<5).map { _ in try TemporaryDirectory() }
    self.directories = directories
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
    for (side, own) in zip(["2", "3"], directories) {
      let follows = side == "3" ? ["--replicaof", "\(network).2 \(Self.port)", "--repl-diskless-sync-delay", "0"] : []
      processes.append(
        try ChildProcess(
          "redis-\(side)",
          [
            "ip", "netns", "exec", "\(bridge)-\(side)", "redis-server", "--port", "\(Self.port)", "--bind", "0.0.0.0",
            "--protected-mode", "no", "--dir", own.path, "--save", "", "--repl-timeout", "5",
            "--repl-ping-replica-period",
            "1",
          ] + follows, in: own))
    }
    for index in 0..<3 {
      let own = directories[2 + index]
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
    let isReady = try await eventually {
      let state = try await cli(primary, "info", "replication")
      let quorum = try await sentinel("ckquorum")
      return state.contains("state=online") && quorum.contains("OK 3 usable")
    }
    let isKnown = try await eventually { try await sentinel("replicas").contains("slave") }
    if !isReady || !isKnown { throw TestSupportError("the Redis servers do not find each other") }
  }

  deinit {
    for process in processes { process.send(SIGKILL) }
    var status: Int32 = 0
    let script =
      "ip netns del \(bridge)-2; ip netns del \(bridge)-3; ip link del \(bridge)-2; ip link del \(bridge)-3; "
      + "ip link del \(bridge)"
    var process = pid_t()
    var arguments = [strdup("sh"), strdup("-c"), strdup("{ \(script); } 2>/dev/null"), nil]
    if posix_spawn(&process, "/bin/sh", nil, nil, &arguments, environ) == 0 { waitpid(process, &status, 0) }
    for argument in arguments { free(argument) }
  }

  /// Cuts the two networks from each other. This process still reaches both.
  package func cut() async throws { try await route("add") }

  /// Ends the cut.
  package func heal() async throws { try await route("del") }

  private func route(_ verb: String) async throws {
    for (side, other) in [("2", "3"), ("3", "2")] {
      try await succeed(["ip", "-n", "\(bridge)-\(side)", "route", verb, "blackhole", "\(network).\(other)/32"])
    }
  }

  /// What a server says to a command.
  package func cli(_ host: String, _ arguments: String...) async throws -> String {
    try await run(["redis-cli", "-h", host, "-p", "\(Self.port)"] + arguments).output
  }

  /// What a sentinel says about the primary.
  package func sentinel(_ question: String) async throws -> String {
    try await run(
      ["redis-cli", "-h", replica, "-p", "26379", "--raw", "sentinel", question, RedisGroup.primary]
    ).output
  }
}
