// The `cache` section: memory, a file, or a Redis server and its credentials.

internal import Bytes
internal import Tokens

extension SettingsDecoder {
  /// The place of the tokens, and the keys that encrypt it.
  mutating func cache(_ file: Section) -> (settings: CacheSettings, keys: [Secret]) {
    guard let section = section(file, .cache) else { return (.memory, []) }
    let keys = cacheKeys(section)
    return (place(section), keys)
  }

  private mutating func place(_ section: Section) -> CacheSettings {
    let memory = boolean(section, .memory)
    let file = path(section, .file)
    let redis = self.redis(section)
    if let redis { return .redis(redis) }
    if let file { return .file(file) }
    if !memory, let node = section[.memory] {
      report(node, that: "is true, or 'file' says where tokens are kept instead")
    }
    return .memory
  }

  private mutating func cacheKeys(_ section: Section) -> [Secret] {
    guard let scalar = scalar(section, .keyFile) else { return [] }
    if section.members[.file] == nil, section.members[.redis] == nil {
      report(scalar, that: "is about 'file' or 'redis', which \(section.path) does not have")
    }
    guard let (path, bytes) = contents(of: scalar, limit: 4 << 10) else { return [] }
    reportAccess(to: scalar.located(path))
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    let keys = lines.compactMap { Base64.decode($0) }.filter { $0.count == 32 }
    guard (1...2).contains(lines.count), keys.count == lines.count else {
      report(
        scalar,
        "\(path) must have one or two lines, each a key of 32 bytes in Base64 such as 'openssl rand "
          + "-base64 32' prints")
      return []
    }
    return keys.map { Secret($0) }
  }

  private mutating func redis(_ section: Section) -> RedisSettings? {
    guard let scalar = scalar(section, .redis) else { return nil }
    let entra = self.scalar(section, .entra)
    if let entra { reportTokens(of: entra) }
    let arrangement = self.arrangement(section)
    let secret = self.secret(section, .password, file: .passwordFile)
    let name = self.scalar(section, .user)
    let prefix = self.scalar(section, .keyPrefix)
    let tls = self.section(section, .tls)
    let caFile = tls.flatMap { readableFile($0, .caFile) }
    let certificate = tls.flatMap { certificateFiles($0) }
    var server: RedisServer
    do throws(UnusableText) {
      server = try RedisServer(scalar.text, defaultPort: section.members[.sentinel] == nil ? 6379 : 26379)
    } catch {
      // The text is not repeated: it may hold a password.
      return refuse(scalar, that: error.reason)
    }
    server.arrangement = arrangement
    server.allowsPlaintext = boolean(section, .allowPlaintext)
    given[scalar.key]?.value = server.description
    if server.password != nil, scalar.written.contains("@"), scalar.written == scalar.text {
      report(scalar, that: "has a password in it; use password_file, or a variable for the whole URL")
    }
    let members = [Key.password, .passwordFile, .user].compactMap { section.members[$0] }
    if server.password != nil, let member = members.first {
      report(member.place, "\(section.path) has a user or password in 'redis' and beside it; keep one")
    }
    if let entra, server.password != nil {
      report(entra, "'redis' has a password; keep one")
    }
    if server.places.count > 1, arrangement == .single {
      report(scalar, that: "names several hosts, for which it needs 'sentinel' or 'cluster: true'")
    }
    if server.database != 0, arrangement == .cluster {
      report(scalar, that: "ends in the number of a database, and a cluster has only one")
    }
    if let entra, !server.isSecure, let place = server.places.first(where: { !$0.isLoopback }) {
      report(entra, that: "needs rediss://: the token would travel in clear to '\(place.host)'")
    }
    if let name, entra == nil, server.password == nil, section.first(of: [.password, .passwordFile]) == nil {
      report(name, that: "needs 'password' or 'password_file'")
    }
    if let tls, !server.isSecure { report(tls, that: "is for rediss:// only") }
    if let place = server.exposed(server.places) {
      report(scalar, "tokens would travel in clear to '\(place.host)'; use rediss://, or allow_plaintext: true")
    }
    if let name { server.user = name.text }
    if let secret { server.password = secret }
    if let prefix { server.keyPrefix = prefix.text }
    // Nor does it leave in clear to a node or primary that is found at run time.
    if entra != nil { server.allowsPlaintext = false }
    return RedisSettings(
      server: scalar.located(server), entra: entra.map { $0.located($0.text) }, caFile: caFile,
      clientCertificate: certificate)
  }

  /// The way to the server.
  private mutating func arrangement(_ section: Section) -> RedisServer.Arrangement {
    let isCluster = boolean(section, .cluster)
    let password = secret(section, .sentinelPassword, file: .sentinelPasswordFile)
    let user = scalar(section, .sentinelUser)
    guard let sentinel = scalar(section, .sentinel) else { return isCluster ? .cluster : .single }
    if let user, password == nil {
      report(user, that: "needs 'sentinel_password' or 'sentinel_password_file'")
    }
    return .sentinels(.init(primary: sentinel.text, user: user?.text, password: password))
  }

  /// True if an application has tokens without the cache that they open.
  private mutating func reportTokens(of entra: Scalar) {
    guard let application = application(named: entra)?.settings, !application.isConfidential else {
      return
    }
    report(
      entra,
      "application '\(entra.text)' has no credential, so its tokens are those of people whose sign-ins "
        + "are in this cache, which they would have to open; name one with a credential")
  }
}
