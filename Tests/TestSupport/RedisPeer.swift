// A Redis server: Debian's redis-server, as a process of one test.

import Glibc

/// redis-server on a port of 127.0.0.1, with what it holds in files of a test's directory.
package struct RedisPeer: Sendable {
  package let port: Int
  private let directory: TemporaryDirectory
  private let options: [String]
  private let client: [String]
  package private(set) var process: ChildProcess

  /// The commands that a user's rules have to allow, as config/cache.md lists them.
  package static let commands =
    "+select +get +mget +set +del +hget +hset +hmget +zadd +zrem +zrangebyscore +pexpire +eval"

  /// The options of one that speaks TLS alone, and asks for no certificate unless told.
  package static func tls(
    _ certificate: CertificateAuthority.Certificate, of authority: CertificateAuthority, asks: Bool = false
  ) -> [String] {
    [
      "--tls-port", "PORT", "--tls-cert-file", certificate.certificateFile, "--tls-key-file", certificate.keyFile,
      "--tls-ca-cert-file", authority.file, "--tls-auth-clients", asks ? "yes" : "no",
    ]
  }

  /// Starts it with further `options` of its command line, and with `user` as the only one who may enter (an access
  /// control list's line, without `user`); every write is on the disk before it is answered.
  package init(
    in directory: TemporaryDirectory? = nil, _ options: [String] = [], user: String? = nil, client: [String] = []
  ) async throws {
    port = try freePort()
    let directory = try directory ?? TemporaryDirectory()
    self.directory = directory
    self.client = client
    var options = options
    if let user {
      let list = try directory.write("user default off\nuser \(user)\n", to: "redis-users.acl")
      options += ["--aclfile", list]
    }
    self.options = options
    process = try Self.start(port, directory, options)
    try await waitForPort(port, of: process)
  }

  private static func start(_ port: Int, _ directory: TemporaryDirectory, _ options: [String]) throws -> ChildProcess {
    let isSecure = options.contains("--tls-port")
    let arguments =
      ["redis-server", "--bind", "127.0.0.1", "--dir", directory.path, "--save", "", "--loglevel", "warning"]
      + (isSecure ? ["--port", "0"] : ["--port", "\(port)"])
      + ["--appendonly", "yes", "--appendfsync", "always"]
      + options.map { $0 == "PORT" ? "\(port)" : $0 }
    return try ChildProcess("redis-\(port)", arguments, in: directory)
  }

  /// Ends it as a crash would.
  package func kill() async throws {
    process.send(SIGKILL)
    _ = try await process.wait()
  }

  /// Starts it again, with its content or, if `isEmpty`, without.
  package mutating func restart(isEmpty: Bool = false) async throws {
    if isEmpty { try await succeed(["rm", "-rf", directory.file("appendonlydir")]) }
    process = try Self.start(port, directory, options)
    try await waitForPort(port, of: process)
  }

  @discardableResult
  package func cli(_ arguments: String...) async throws -> String {
    try await cli(arguments)
  }

  package func cli(_ arguments: [String]) async throws -> String {
    try await succeed(["redis-cli", "-h", "127.0.0.1", "-p", "\(port)"] + client + arguments)
  }
}
