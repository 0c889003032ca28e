import Glibc
import HTTPClient
import Identity
import Platform

/// Cures for a token cache that cannot be used.
enum CacheCure: Cure {
  case damaged, abandoned, space, readOnly, rights, writer, size, directory, owner, contended, locked
  case key, clear, moved, credentials, token, objectID, commands, entry, version, server, primary, exposed
  case host, forbiddenAddress, listening, noTLS, firewall, authority

  func text(_ parts: CureParts) -> String {
    switch self {
    case .damaged:
      "Nothing overwrites the file. Repair it, or move it away: the cache is then empty, and every person signs in "
        + "again."
    case .abandoned: "Nothing: the file is written again."
    case .space: "Free space on the file system of the cache file, or raise the quota of its owner."
    case .readOnly:
      "The file system of the cache file is read-only for this process. Name a file in a directory that it may write: "
        + "below StateDirectory= or ReadWritePaths= of a unit, or in a volume of a container."
    case .rights: "The proxy's user has to be able to read and write the cache file and its directory: \(parts.reason)."
    case .writer: "Another program writes the file all the time. Find it, such as with fuser or lsof, and stop it."
    case .size: "No cache has so many bytes: look at what is in the file, and move it away."
    case .directory: "Create the directory of the cache file, for the proxy's user alone, or mount it."
    case .owner: "Look at owner and mode of the file and its directory: they have to be this user's alone."
    case .contended: "Fewer processes may have to share this cache: look at how often each of them writes it."
    case .locked: "If the process that holds the lock is gone, remove the lock file."
    case .key:
      "Nothing overwrites it. Add that key to the file that `key_file` of the cache names, as the second line if it is "
        + "a former one; config/cache.md says how to print the name of a key."
    case .clear:
      "Find the program that writes there without the key: a proxy without `key_file`, or an MSAL. A restart of the "
        + "proxy takes over what is there now."
    case .moved:
      "Restore it from a backup, at its former file name or key; or delete it, and the people whose tokens it had sign "
        + "in again."
    case .credentials: "Check `user` and `password` of the cache against the server's access control list."
    case .token:
      "Look at that application: `bearer-proxy check --live` tries it if a route uses it. The provider must know "
        + "https://redis.azure.com."
    case .objectID: "Name the object id in `user` of the cache."
    case .commands:
      "The server's user needs the commands that config/cache.md lists, on keys that begin with `key_prefix`; a "
        + "replica takes no writes."
    case .entry: "Look at that key with HGETALL. Delete it, and the person it belongs to signs in again."
    case .version: "Look at that key with TYPE and GET. Delete it: the proxy writes it again."
    case .primary: "Compare `sentinel` with the name in `sentinel monitor NAME …` of the sentinels."
    case .exposed:
      "Use `rediss://`, or let sentinels and nodes announce the addresses at which they are reached on this machine."
    case .server:
      "Is it a Redis server that listens there, with TLS if `rediss:` says so, and has it room to answer?"
    case .host: "Is the host in `redis` spelt right, and does this machine's resolver know it?"
    case .forbiddenAddress: UpstreamCure.forbiddenAddress.text(parts)
    case .listening: "Does the server run, and listen at that address and port?"
    case .noTLS: "Does the server speak TLS at that port? `redis:` is without."
    case .firewall: "Does a firewall drop what goes there?"
    case .authority:
      "Name the authority that issued the server's certificate in `tls: {ca_file: …}` of the cache; a server that asks "
        + "for a client certificate needs `certificate_file` and `key_file` there."
    }
  }

  /// The sentences about the way to a cache's server.
  static func words(_ error: UpstreamError, isHandshake: Bool = false) -> String {
    let cure: CacheCure =
      switch error {
      case .connect(.unresolved): .host
      case .connect(.forbiddenAddress): .forbiddenAddress
      case .connect(.refused), .proxyUnreachable, .proxy, .withoutHTTP2, .withoutWebSockets: .listening
      case .connect(.timedOut), .timedOut: isHandshake ? .noTLS : .firewall
      case .tls: .authority
      }
    return cure.words()
  }

  /// The sentences about reading, writing and locking.
  static func words(_ error: CacheStoreError) -> String {
    var parts = CureParts()
    let cure: CacheCure
    switch error {
    case .damaged: cure = .damaged
    case .abandoned: cure = .abandoned
    case .file(.system(let error)), .lock(let error):
      parts.reason = error.reason
      cure = error.isOutOfSpace ? .space : error.number == EROFS ? .readOnly : .rights
    case .file(.changedWhileRead): cure = .writer
    case .file(.tooLarge): cure = .size
    case .file(.noDirectory): cure = .directory
    case .file: cure = .owner
    case .contended: cure = .contended
    case .locked: cure = .locked
    case .sealed(let error), .server(.sealed(_, let error)):
      switch error {
      case .keyless, .otherKey, .library: cure = .key
      case .plain: cure = .clear
      case .broken: cure = .moved
      }
    case .server(.credentials): cure = .credentials
    case .server(.noPrimary): cure = .primary
    case .server(.exposed): cure = .exposed
    case .server(.token): cure = .token
    case .server(.nameless): cure = .objectID
    case .server(.refused): cure = .commands
    case .server(.damaged): cure = .entry
    case .server(.notVersion): cure = .version
    case .server(.unreachable(let error)): return words(error)
    case .server: cure = .server
    }
    return cure.words(parts)
  }
}
