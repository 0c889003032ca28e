import Telemetry

extension TroubleshootingPage {
  /// TLS files, outbound proxies and the cache.
  static var files: String {
    #"""
    ### TLS files

    - `the archive has none`\
      The PKCS #12 archive lacks a certificate or a private key, as the words before it say. **Cure:** Export both
      together: `openssl pkcs12 -export -in CERTIFICATE -inkey KEY -out FILE`.
    - `… holds no usable certificate: …`\
      The file is not PEM, damaged, or of another kind. **Cure:** `openssl x509 -in FILE -noout -text` shows its
      content.
    - `… holds no usable private key: …`\
      The file is not PEM, or encrypted with a passphrase. **Cure:** Use an unencrypted PEM key.
    - `… is not the key of the certificate in …`\
      Certificate and key are of different pairs. **Cure:** Use a matching pair.
    - `AZURE_KUBERNETES_CA_DATA holds no usable certification authorities`\
      The variable is not PEM. **Cure:** Create the pod anew.
    - `… holds no usable certification authorities: …`\
      The file is not PEM, or empty. **Cure:** Use the authority's certificate, not the server's.
    - `… is encrypted: name a file with its passphrase in 'passphrase_file'`\
      The key or archive of an application needs a passphrase. **Cure:** Write it into a file that only the proxy can
      read.
    - `it is not the passphrase of …`\
      The passphrase opens neither key nor archive. **Cure:** Correct it; try it with `openssl pkey -in FILE` or
      `openssl pkcs12 -in FILE`.
    - `… cannot be decrypted`\
      The archive is damaged, or needs a passphrase. **Cure:** Export it again.
    - `… is encrypted with a cipher that OpenSSL 3 no longer offers, such as RC2: write it again with a newer one
      (openssl pkcs12 -legacy -in OLD -nodes | openssl pkcs12 -export -out NEW)`\
      An older Windows or OpenSSL exported the archive. **Cure:** Write it again as the message says.
    - `… is no PKCS #12 archive: …`\
      `pfx_file` names another kind of file. **Cure:** PEM files belong into `certificate_file` and `key_file`.
    - `… holds a private key that is none of its certificates'`\
      Certificate and key are of different pairs. **Cure:** Use a matching pair.
    - `… holds a key that cannot prove an application: RSA of 2048 bits, or a curve of P-256, P-384 and P-521 (…)`\
      The key is of another kind or too short. **Cure:** Have a certificate issued for a key of these kinds.
    - `the key of … signs with …, not with …`\
      `algorithm` does not fit the key. **Cure:** Choose one that the key can sign with, or leave it out.
    - `the certificate ends in …`\
      A certificate of a listener, an application, a client or an authority ends within 30 days. **Cure:** The rest of
      the message: a listener's: \#(step(.listenerCertificate)); an application's: \#(step(.applicationCertificate)); a
      client's: \#(step(.clientCertificate)); an authority's: \#(step(.certificationAuthority)); one for the collector
      of traces: \#(step(.collectorCertificate)).
    - `the certificate is valid only in …, or this machine's clock is wrong`\
      The certificate begins in the future. **Cure:** Check `date -u`; else \#(step(.earlyCertificate)).
    - `the certificate ended … ago, or this machine's clock is wrong`\
      The certificate is over: callers do not trust the listener, or servers the client. **Cure:** Check `date -u`; else
      replace it. `bearer-proxy status` names the file.
    - `TLS cannot be used: …`\
      OpenSSL cannot create a context, or the system's trust store is missing. **Cure:** Install `ca-certificates`, or
      set `ca_file`.

    ### Outbound proxies

    - `is not an http:// proxy; tunnels are asked for in plain HTTP, what goes through them is encrypted`\
      `https://` or `socks5://` in `HTTPS_PROXY`, `HTTP_PROXY` or `proxy`. **Cure:** Use the proxy's http port.
    - `has something before the '@' that is no user:password (percent-encoded)`\
      A character of the password is not encoded. **Cure:** `%40` for `@`, `%2F` for `/`, `%25` for `%`.
    - `has no host that could be looked up, or a port that is not a number from 1 to 65535`\
      A wrong host or port. **Cure:** `http://host:port`.
    - `has a path; a proxy is a host and a port`\
      Something follows the port, perhaps because of a `/` in the password. **Cure:** Remove or encode it.
    - `… has a password in it; use a variable, such as http://${PROXY_USER}@host:port`\
      All who can read the file would see it. **Cure:** Use `${NAME}` with a variable that holds `user:password`.

    ### Cache

    - `… has ……; keep one`\
      The cache has two places. **Cure:** Keep one of `file`, `memory` and `redis`.
    - `… is true, or 'file' says where tokens are kept instead`\
      The cache has `memory: false` and no other place. **Cure:** Name a file or a server.
    - `… is about 'redis', which … does not have`\
      The key is for a Redis server, and none is named. **Cure:** Add `redis`, or remove the key.
    - `begins neither with redis:// nor with rediss://`\
      The value is not a Redis URL. **Cure:** Write `rediss://host:port/0`.
    - `ends in something that is not the number of a database, such as /0`\
      The URL ends in a name, or the password contains a `/`. **Cure:** Write a number; encode the password.
    - `… has a password in it; use password_file, or a variable for the whole URL`\
      All who can read the file would see it. **Cure:** Use `password_file`, or `redis: ${REDIS_URL}`.
    - `… has a user or password in 'redis' and beside it; keep one`\
      The configuration has two credentials. **Cure:** Keep one.
    - `… needs 'password' or 'password_file'`\
      The user has no password. **Cure:** Add one.
    - `… has both 'entra' and '…'; keep one`\
      A password and tokens. **Cure:** Keep one.
    - `… has both 'sentinel' and 'cluster'; keep one`\
      A server is found in one way. **Cure:** Keep one.
    - `… is about 'file' or 'redis', which … does not have`\
      `key_file` encrypts what is kept there. **Cure:** Add `file` or `redis`, or remove the key.
    - `…: … must have one or two lines, each a key of 32 bytes in Base64 such as 'openssl rand -base64 32' prints`\
      The key file has other contents. **Cure:** Write one key, or two, the newer one first.
    - `… names several hosts, for which it needs 'sentinel' or 'cluster: true'`\
      One server listens at one place. **Cure:** Add `sentinel` or `cluster: true`, or keep one host.
    - `… ends in the number of a database, and a cluster has only one`\
      `/1` with `cluster: true`. **Cure:** Remove it. Use `key_prefix` to separate caches.
    - `… is about 'sentinel', which … does not have`\
      The key is for sentinels, and none is named. **Cure:** Add `sentinel`, or remove the key.
    - `… needs 'sentinel_password' or 'sentinel_password_file'`\
      The sentinels' user has no password. **Cure:** Add one.
    - `…: application '…' has no credential, so its tokens are those of people whose sign-ins are in this cache, which
      they would have to open; name one with a credential`\
      The cache cannot be opened by what it holds. **Cure:** Name an application with a secret, a certificate or a
      managed identity.
    - `…: 'redis' has a password; keep one`\
      A password and tokens. **Cure:** Keep one.
    - `… needs rediss://: the token would travel in clear to '…'`\
      The server is on another machine and has no TLS. **Cure:** Use `rediss://`.
    - `… is for rediss:// only`\
      `tls` beside `redis://`. **Cure:** `rediss://`.
    - `…: tokens would travel in clear to '…'; use rediss://, or allow_plaintext: true`\
      The server is on another machine and has no TLS. **Cure:** Use `rediss://`. Use the setting only in a network
      where every machine may see the tokens.
    - `is in a directory that does not exist`\
      The directory of the cache file does not exist. **Cure:** Create it, with mode 0700 and the proxy's user.
    - `cannot be used: …`\
      The system refuses access to the cache file. **Cure:** \#(CacheCure.rights.page) If the disk is full:
      \#(CacheCure.space.page) If it is read-only: \#(CacheCure.readOnly.page)

    ## A change without effect

    The log says `configuration not reloaded, the one before stays in force` with one of the messages above;
    `bearer-proxy status` shows the first of them, and `bearer_proxy_config_last_reload_successful` is 0 until the file
    is right. `a changed setting needs a restart` names a setting that a reload does not change: `loops`, `admin`,
    `cache`. If the log says neither, the files did not change for the process: a ConfigMap that is mounted with
    `subPath` never changes.

    ## Cache at work

    The log says `token cache cannot be used, serving from memory` with one of these, and
    `bearer_proxy_cache_failures_total` counts them. [The token cache](../config/cache.md#when-the-file-cannot-be-used)
    says what happens meanwhile.

    - `is a symbolic link; name the file itself`\
      The path contains a link that another user could change. **Cure:** Use the file's own path.
    - `is not a regular file`\
      The path leads to a directory, a device or a socket. **Cure:** Name a file.
    - `belongs to another user (uid …); run as that user, or name a file of your own`\
      Another user created it. Root, too, uses only files of root or of the directory's owner. **Cure:**
      \#(CacheCure.owner.page) `chown` it, and run commands as the proxy's user.
    - `is in a shared directory of another user (uid …), who can replace it; take a directory of your own`\
      The owner of a sticky directory can remove and replace every file in it. **Cure:** Use a directory of the proxy's
      own user or of root.
    - `cannot be written, because … beside it belongs to another user (uid …); remove that file, or take a directory of
      your own`\
      Another user created a file where the proxy must create one, in a directory that several users can write.
      **Cure:** \#(CacheCure.owner.page) Remove the named file, and keep the cache in a directory of the proxy's own
      user.
    - `can be written by others (mode 0…); chmod 600 helps`\
      Other users could write tokens into it. **Cure:** \#(CacheCure.owner.page) `chmod 600 FILE`.
    - `is in a directory that others can write (mode 0…); chmod o-w or +t on it helps`\
      Other users could replace the file. **Cure:** \#(CacheCure.owner.page) `chmod o-w DIRECTORY`.
    - `its directory does not exist`\
      The directory was removed, or is not mounted. **Cure:** \#(CacheCure.directory.page)
    - `larger than … MiB`\
      The file is larger than any cache. **Cure:** \#(CacheCure.size.page)
    - `is being written`\
      Another program writes to it all the time. **Cure:** \#(CacheCure.writer.page)
    - `…:1:1: not an object`\
      The file is JSON, but not a cache. **Cure:** Name the right file.
    - `the text ends too early`\
      A program stopped while writing, or the disk was full. **Cure:** \#(CacheCure.damaged.page)
    - `unexpected character 0x…`\
      The file was damaged or edited by hand. **Cure:** Repair the reported place, or restore the file.
    - `a string that is not UTF-8`\
      Damage. **Cure:** The same.
    - `a number beyond every range`\
      Damage. **Cure:** The same.
    - `values inside values without end`\
      Not a cache. **Cure:** Name the right file.
    - `text behind the document's end`\
      Two programs wrote at the same time without the lock. **Cure:** Remove what follows the document's end.
    - `…: a program ended while it wrote the file; it is written again from memory`\
      A program that shares the file was killed. **Cure:** \#(CacheCure.abandoned.page) If the log does not say `token
      cache can be used again` after that, look at the file.
    - `two members with one name`\
      Damage. **Cure:** Restore the file.
    - `held by process … (…)`\
      Another program has held the cache's lock for more than five seconds. **Cure:** \#(CacheCure.locked.page) MSAL for
      Python leaves it when it is killed.
    - `held by another process`\
      The same; its name is not known. **Cure:** \#(CacheCure.locked.page)
    - `it is encrypted with key …, and 'key_file' is not set`\
      `key_file` is missing in the configuration. **Cure:** \#(CacheCure.key.page)
    - `it is encrypted with key …, which 'key_file' does not have`\
      A key was replaced, and is not the second one. **Cure:** \#(CacheCure.key.page)
    - `it was encrypted, and another program has written it in clear`\
      Not this proxy, nor another one with the key. **Cure:** \#(CacheCure.clear.page)
    - `it was changed, or moved from another place: key … does not decrypt it`\
      Damage, a file under another name, or an attack. **Cure:** \#(CacheCure.moved.page)
    - `cache.key_file: the cryptography library fails: …`\
      OpenSSL lacks SHA-256. **Cure:** Check the machine's OpenSSL installation.
    - `it cannot be encrypted or decrypted: …`\
      OpenSSL lacks AES-256 or random bytes. **Cure:** Check the machine's OpenSSL installation.
    - `the connection was closed`\
      The Redis server ended or restarted. **Cure:** \#(CacheCure.listening.page) The proxy connects again by itself.
    - `no answer within the time limit`\
      The Redis server hangs, or packets are dropped on the way. **Cure:** \#(CacheCure.firewall.page) Else check the
      server's load.
    - `the answer is not Redis's protocol`\
      Another service at that port, or TLS on one side only. **Cure:** \#(CacheCure.server.page)
    - `the server wants a password (NOAUTH)`\
      No password is configured. **Cure:** \#(CacheCure.credentials.page) Set `password_file`.
    - `user or password are wrong (…)`\
      The server does not know this pair. **Cure:** \#(CacheCure.credentials.page) `ACL LIST` shows it.
    - `no sentinel knows a primary '…'`\
      The name is another one, or the sentinels do not watch yet. **Cure:** \#(CacheCure.primary.page)
    - `tokens would travel in clear to '…', which a sentinel or a node names`\
      With `redis://`, the URL has loopback addresses, and the servers announce others. **Cure:**
      \#(CacheCure.exposed.page)
    - `application '…' gets no token for the server: …`\
      The provider is away, or refuses the application that `entra` names. **Cure:** \#(CacheCure.token.page)
    - `the token of application '…' names no object id (oid)`\
      The provider is not Entra, or the token is not a JWT. **Cure:** \#(CacheCure.objectID.page)
    - `the user may not use … on these keys (NOPERM)`\
      Its rules lack the command, or the key prefix. **Cure:** \#(CacheCure.commands.page) See [the token
      cache](../config/cache.md#a-redis-server-for-several-machines).
    - `the server refuses … (…)`\
      `READONLY`: a replica. `LOADING`: it has just started. `OOM`: it is full. `MOVED`: a cluster, for which
      `cluster: true` is needed. `CLUSTERDOWN`: parts of a cluster are away. **Cure:** \#(CacheCure.commands.page)
      Point the name to the primary; wait; give it memory.
    - `… is no token cache`\
      Another program wrote to a key with the prefix. **Cure:** \#(CacheCure.entry.page)
    - `the number at … is no version of a token cache`\
      The same, to a key with a version. **Cure:** \#(CacheCure.version.page)
    - `…: other processes keep changing the same entries`\
      Too many replicas share one cache. **Cure:** \#(CacheCure.contended.page)
    """#
  }
}
