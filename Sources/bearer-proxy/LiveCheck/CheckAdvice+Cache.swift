// Owns what to do about what `check --live` finds wrong with the cache. Pure.

import HTTPClient
import Identity
import Network

extension CheckAdvice {
  /// About the way to a cache's server.
  static func cacheAdvice(_ error: UpstreamError, isHandshake: Bool = false) -> String {
    switch error {
    case .connect(.unresolved): "Is the host in 'redis' spelt right, and does this machine's resolver know it?"
    case .connect(.forbiddenAddress): "Such an address is never contacted. Which name was meant?"
    case .connect(.refused), .proxyUnreachable, .proxy: "Does the server run, and listen at that address and port?"
    case .connect(.timedOut) where isHandshake, .timedOut where isHandshake:
      "Does the server speak TLS at that port? 'redis:' is without."
    case .connect(.timedOut), .timedOut: "Does a firewall drop what goes there?"
    case .connect(.handshake), .tls:
      "Name the authority that issued the server's certificate in 'tls: {ca_file: …}' of the cache; a server that asks for ours wants "
        + "'certificate_file' and 'key_file' there."
    }
  }

  /// About reading and locking.
  static func cacheAdvice(_ error: CacheStoreError) -> String {
    switch error {
    case .damaged:
      "Nothing overwrites the file. Mend it, or move it away: the cache is empty then, and everybody signs in again."
    case .file: "Look at owner and mode of the file and its directory: they have to be this user's alone."
    case .locked: "If the process that holds the lock is gone, remove the lock file."
    case .lock: "The directory of the cache has to be one that this user may write."
    case .server(.credentials): "Check 'user' and 'password' of the cache against the server's access control list."
    case .server(.refused):
      "The server's user needs the commands that README.md lists, on keys that begin with 'key_prefix'; a replica takes no writes."
    case .server(.damaged): "Look at that key with HGETALL; delete it, and whoever it belongs to signs in again."
    case .server(.unreachable(let error)): cacheAdvice(error)
    case .server:
      "Is it a Redis server that listens there, with TLS where 'rediss:' says so, and has it room to answer?"
    }
  }
}
