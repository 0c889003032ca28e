// The message for each mistake; one mistake does not hide another.

import TestSupport
import Testing

@testable import Configuration

@Suite struct `Configuration issues` {
  /// A fragment of a file that is otherwise right, and the issues it brings, without the file's name.
  static let cases: [(String, [String])] = [
    (
      "routes:\n  - {name: a, path: /, upstrem: 'http://[::1]', token: none}",
      [
        "1:1: error: the configuration needs 'listeners'",
        "2:5: error: routes[0] needs 'upstream'",
        "2:24: error: unknown key 'upstrem' in routes[0]; did you mean 'upstream'?",
      ]
    ),
    (
      "listeners: []\nroutes: []",
      [
        "1:12: error: listeners is empty: no program could call",
        "2:9: error: routes is empty: nothing would be forwarded",
      ]
    ),
    (
      "listeners: 127.0.0.1:80\nroutes: {a: 1}",
      [
        "1:12: error: listeners takes a list, each element beginning with '-'",
        "2:9: error: routes takes a list, each element beginning with '-'",
      ]
    ),
    (
      // Characters that a terminal would obey are not repeated.
      "routes: []\n\"a\\e[2J\\u202Eb\": 1",
      [
        "1:1: error: the configuration needs 'listeners'", "1:9: error: routes is empty: nothing would be forwarded",
        "2:1: error: unknown key 'a [2J b'",
      ]
    ),
    ("just text", ["1:1: error: the configuration takes keys of its own (listeners: …, loops: …, admin: …)"]),
  ]

  @Test(arguments: cases)
  func `a whole file is refused with every issue`(text: String, expected: [String]) {
    #expect(issues(text) == expected)
  }

  private static let otherWays =
    "give the pages a listener of their own, or the public_url of a proxy in front that adds it"

  static let listenerCases = issueTable(
    """
    address: '::1:80'
      address: '::1:80' is not an address such as 127.0.0.1:8080, [::1]:8080 or unix:/run/bearer-proxy.sock
    address: '127.0.0.1:65536'
      address: '127.0.0.1:65536' has no port from 0 to 65535 behind the address
    address: unix:run/x
      address: 'unix:run/x' is not an absolute path of at most 107 bytes behind 'unix:'
    address: '[::]:8081', callers: {anyone: false}
      address: [::]:8081 can be reached from other machines: say under callers who may call (a header, a certificate, a
        bearer token, or anyone: true), or listen at a loopback address or a unix socket
    address: 127.0.0.1:80, hosts: localhost
      hosts takes a list: write [localhost]
    address: 127.0.0.1:80, hosts: [a, a]
      hosts[1] repeats 'a'
    address: 127.0.0.1:80, callers: {anyone: yes}
      callers.anyone is true or false, not 'yes'
    address: 'unix:/x', callers: {unix: {uids: [root], gids: [-1]}}
      callers.unix.uids[0] is a user's or group's number, not 'root'
      callers.unix.gids[0] is a user's or group's number, not '-1'
    address: 'unix:/x', callers: {unix: {}}
      callers.unix needs 'uids' or 'gids'
    address: 127.0.0.1:80, callers: {header: {}}
      callers.header needs 'name'
      callers.header needs 'value' or 'value_file'
    address: 127.0.0.1:80, callers: {header: {name: Host, value: 0123456789abcdef}}
      callers.header.name: 'Host' has another meaning already; take a name such as X-Proxy-Key
    address: 127.0.0.1:80, callers: {header: {name: 'a b', value: 0123456789abcdef}}
      callers.header.name: 'a b' is not a field name
    address: 127.0.0.1:80, callers: {certificate: {ca_file: cert.pem}}
      callers.certificate needs a listener that speaks TLS: give it 'tls'
    address: 127.0.0.1:80, callers: {bearer: {authority: 'https://id.example/'}}
      callers.bearer needs 'audiences'
    address: 127.0.0.1:80, callers: {bearer: {authority: 'https://id.example/', audiences: [a], scopes: [a b,
        offline_access], public_url: 'https://mcp.example/mcp'}}
      callers.bearer.scopes[0]: 'a b' is not one scope (no blanks, quotes, backslashes): write [a, b]
      callers.bearer.scopes[1]: 'offline_access' is asked for with every sign-in and is no API's scope
      callers.bearer.public_url: 'https://mcp.example/mcp' has a path; write scheme and host alone
    address: 127.0.0.1:80, callers: {bearer: {authority: 'https://id.example/', audiences: [a], public_url:
        'http://mcp.example'}}
      callers.bearer.public_url: 'http://mcp.example' is not https
    address: 127.0.0.1:80, callers: {anyone: true, header: {name: X-Key, value: 0123456789abcdef}}
      callers has both 'anyone' and 'header'; keep one
    address: 127.0.0.1:80, callers: {origins: ['https://app.example/x', '*']}
      callers.origins[0]: 'https://app.example/x' is not an origin such as https://app.example
      callers.origins[1]: '*' begins neither with https:// nor with http://: write the whole URL
    address: 127.0.0.1:80, sign_in: {limit: 2h}
      sign_in.limit is between 1s and 1h
    address: 'unix:/x', sign_in: true
      sign_in needs a public_url: by which address browsers reach unix:/x cannot be told from it
    address: 127.0.0.1:80, sign_in: {public_url: 'https://proxy.example/x'}
      sign_in.public_url: 'https://proxy.example/x' has a path; write scheme and host alone
    address: 127.0.0.1:80, sign_in: true, callers: {header: {name: X-Key, value: 0123456789abcdef}}
      sign_in: no browser brings what callers.header demands; \(otherWays)
    address: 127.0.0.1:80, sign_in: {limit: 5m}, callers: {bearer: {authority: 'https://id.example', audiences: [a]}}
      sign_in: no browser brings what callers.bearer demands; \(otherWays)
    # A proxy in front may add it.
    address: 127.0.0.1:80, sign_in: {public_url: 'https://p.example'}, callers: {header: {name: X-Key, value:
        0123456789abcdef}}
      no issue
    address: 127.0.0.1:80, sign_in: true, callers: {anyone: true}
      no issue
    address: 127.0.0.1:80, sign_in: true, callers: {origins: ['https://app.example']}
      no issue
    address: 127.0.0.1:80, tls: {certificate_file: cert.pem}
      tls needs 'key_file'
    address: 127.0.0.1:80, tls: {certificate_file: gone.pem, key_file: locked}
      tls.certificate_file: cannot read dir/gone.pem: No such file or directory
      tls.key_file: cannot read dir/locked: Permission denied
    address:\u{20}
      address has no value
    address: '${EMPTY}'
      address is empty
    address: '${GONE}'
      address refers to 'GONE', which the environment does not have: set it where the process starts
    address: $HOME
      address has a '$' that is neither '${NAME}' nor '$$' (a dollar)
    address: '${DOLLAR}'
      address: '${DOLLAR}' is not an address such as 127.0.0.1:8080, [::1]:8080 or unix:/run/bearer-proxy.sock
    """)

  @Test(arguments: listenerCases)
  func `a listener is refused with the key`(fragment: String, expected: [String]) {
    let text = "listeners:\n  - {\(fragment)}\nroutes:\n  - {name: a, path: /, upstream: 'http://[::1]', token: none}"
    #expect(messages(text) == expected.map { "listeners[0]." + $0 })
  }

  static let processCases = issueTable(
    """
    loops: two
      loops is a whole number from 1 to 256, not 'two'
    log: {format: jsn}
      log.format is one of json, text, not 'jsn'; did you mean 'json'?
    log:
      log takes keys of its own (level: …, format: …, access: …)
    cache: {memory: false}
      cache.memory is true, or 'file' says where tokens are kept instead
    cache: {memory: true, file: tokens.json}
      cache has both 'memory' and 'file'; keep one
    cache: {redis: "redis://:s3cret@localhost"}
      cache.redis has a password in it; use password_file, or a variable for the whole URL
    cache: {redis: "redis://a:s3cret@:0/x"}
      cache.redis ends in something that is not the number of a database, such as /0
    cache: {redis: redis://localhost, user: u}
      cache.user needs 'password' or 'password_file'
    cache: {user: u}
      cache.user is about 'redis', which cache does not have
    cache: {redis: redis://localhost, tls: {ca_file: ca.pem}}
      cache.tls is for rediss:// only
    cache: {redis: redis://cache.example}
      cache.redis: tokens would travel in clear to 'cache.example'; use rediss://, or allow_plaintext: true
    cache: {redis: rediss://cache.example, entra: desk}
      cache.entra: there is no application 'desk'
    cache: {redis: rediss://cache.example, entra: desk}
    applications: {desk: {authority: 'https://id.example', client_id: d}}
      cache.entra: application 'desk' has no credential, so its tokens are those of people whose sign-ins are in this
        cache, which they would have to open; name one with a credential
    cache: {redis: redis://cache.example, allow_plaintext: true, entra: job}
    applications: {job: {authority: 'https://id.example', client_id: j, client_secret: s3cret-of-job}}
      cache.entra needs rediss://: the token would travel in clear to 'cache.example'
    cache: {redis: 'rediss://a:s3cret@cache.example', entra: job}
    applications: {job: {authority: 'https://id.example', client_id: j, client_secret: s3cret-of-job}}
      cache.redis has a password in it; use password_file, or a variable for the whole URL
      cache.entra: 'redis' has a password; keep one
    cache: {redis: rediss://a.example, entra: job, password: p}
    applications: {job: {authority: 'https://id.example', client_id: j, client_secret: s3cret-of-job}}
      cache has both 'entra' and 'password'; keep one
    cache: {redis: 'rediss://a.example,b.example'}
      cache.redis names several hosts, for which it needs 'sentinel' or 'cluster: true'
    cache: {redis: 'rediss://a.example,b.example', sentinel: main, cluster: true}
      cache has both 'sentinel' and 'cluster'; keep one
    cache: {redis: 'rediss://a.example/3', cluster: true}
      cache.redis ends in the number of a database, and a cluster has only one
    cache: {redis: 'redis://localhost,a.example', cluster: true}
      cache.redis: tokens would travel in clear to 'a.example'; use rediss://, or allow_plaintext: true
    cache: {redis: redis://localhost, sentinel_user: u}
      cache.sentinel_user is about 'sentinel', which cache does not have
    cache: {redis: redis://localhost, sentinel: main, sentinel_user: u}
      cache.sentinel_user needs 'sentinel_password' or 'sentinel_password_file'
    cache: {key_file: keys}
      cache.key_file is about 'file' or 'redis', which cache does not have
    cache: {file: a.json, key_file: small}
      cache.key_file: dir/small must have one or two lines, each a key of 32 bytes in Base64 such as 'openssl rand
        -base64 32' prints
    cache: {file: a.json, key_file: three-keys}
      cache.key_file: dir/three-keys must have one or two lines, each a key of 32 bytes in Base64 such as 'openssl rand
        -base64 32' prints
    cache: {file: a.json, key_file: locked}
      cache.key_file: cannot read dir/locked: Permission denied
    cache: {fil: tokens.json}
      unknown key 'fil' in cache; did you mean 'file'?
    limits: {head_bytes: 32}
      limits.head_bytes is a size such as 512B, 64KiB or 1MiB, not '32'
    limits: {head_bytes: 1KiB}
      limits.head_bytes is from 4KiB to 1MiB, not '1KiB'
    limits: {body_bytes: 9999999999GiB}
      limits.body_bytes is a size such as 512B, 64KiB or 1MiB, not '9999999999GiB'
    shutdown: {limit: 30}
      shutdown.limit is a duration such as 500ms, 30s, 5m or 1h, not '30'
    shutdown: {limit: 0s}
      shutdown.limit is a duration such as 500ms, 30s, 5m or 1h, not '0s'
    shutdown: {delay: 30s, limit: 30s}
      shutdown.delay is shorter than shutdown.limit, which includes it
    admin: {address: 127.0.0.1:8080}
      admin.address: 127.0.0.1:8080 is already the address of line 2
    defaults: {tls: {server_name: a}}
      unknown key 'server_name' in defaults.tls
    defaults: {tls: {key_file: key.pem}}
      defaults.tls needs 'certificate_file'
    defaults: {timeouts: {idle: none}}
      defaults.timeouts.idle is a duration such as 500ms, 30s, 5m or 1h, not 'none'
    """)

  @Test(arguments: processCases)
  func `a setting of the process is refused with the key`(fragment: String, expected: [String]) {
    #expect(messages(beside: fragment) == expected)
  }

  private func issues(_ text: String) -> [String] {
    do throws(ConfigurationError) {
      _ = try decoded(text)
      return []
    } catch {
      return error.issues.map { String($0.description.dropFirst("dir/f.yaml:".count)) }
    }
  }
}

/// The issues of a file that is right apart from this part of it, without their places.
func messages(beside fragment: String) -> [String] {
  messages(`Decoded settings`.smallest + "\n" + fragment)
}

/// The issues of a text, without their places.
func messages(_ text: String) -> [String] {
  do throws(ConfigurationError) {
    _ = try decoded(text)
    return []
  } catch {
    return error.issues.map { issue in
      issue.message + (issue.suggestion.map { "; did you mean '\($0)'?" } ?? "")
    }
  }
}
