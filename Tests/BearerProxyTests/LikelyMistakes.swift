// The mistakes in a configuration file.

extension `Likely mistakes` {
  static let mistakes = Mistake.table(
    """
    a misspelt key | upstream: | upstrem:
      9:5: error: routes[0] needs 'upstream'
      11:5: error: unknown key 'upstrem' in routes[0]; did you mean 'upstream'?
    a misspelt section | listeners: | listener:
      1:1: error: unknown key 'listener'; did you mean 'listeners'?
      1:1: error: the configuration needs 'listeners'
    a key without its underscore | client_id: | clientid:
      5:5: error: applications.app needs 'client_id'
      6:5: error: unknown key 'clientid' in applications.app; did you mean 'client_id'?
    a singular for a plural | scopes: [ | scope: [
      13:30: error: unknown key 'scope' in routes[0].token; did you mean 'scopes'?
    a misspelt word of a choice | as: application | as: aplication
      13:17: error: routes[0].token.as is one of account, agent, application, caller, not 'aplication'; did you mean
        'application'?
    a misspelt application | application: app | application: ap
      12:18: error: routes[0].application: there is no application 'ap'; did you mean 'app'?
    a route without its application |     application: app⏎
      9:5: error: routes[0] needs 'application': whose token it is; did you mean 'app'?
    a route without an upstream |     upstream: https://orders.example/⏎
      9:5: error: routes[0] needs 'upstream'
    a key twice | path: /orders/ | path: /orders/⏎    path: /more/
      11:5: error: key 'path' is already on line 10; keep one
    a route twice | routes: | routes:⏎  - {name: orders, path: /x/, upstream: "https://x.example/", token: none}
      10:11: error: routes[1].name: a route 'orders' is already on line 9; choose another name
    a path twice | routes: | routes:⏎  - {name: other, path: /orders/, upstream: "https://x.example/", token: none}
      10:5: error: routes[1] takes the same requests as route 'other' on line 9; change its path, host or methods
    a name where an address belongs | 127.0.0.1:0 | localhost:8080
      1:23: error: listeners[0].address: 'localhost:8080' names a host; a listener takes an IP address such as 127.0.0.1
        or [::1]
    an address without a port | 127.0.0.1:0 | 127.0.0.1
      1:23: error: listeners[0].address: '127.0.0.1' is not an address such as 127.0.0.1:8080, [::1]:8080 or
        unix:/run/bearer-proxy.sock
    an address that other machines reach | 127.0.0.1:0 | 0.0.0.0:8080
      1:23: error: listeners[0].address: 0.0.0.0:8080 can be reached from other machines: say under callers who may call
        (a header, a certificate, a bearer token, or anyone: true), or listen at a loopback address or a unix socket
    a user for a unix socket at a TCP address | "127.0.0.1:0" | "127.0.0.1:0", callers: {unix: {users: [1000]}}
      1:54: error: listeners[0].callers.unix needs 'uids' or 'gids'
      1:54: error: listeners[0].callers.unix is for a unix socket; other callers show no user: take another rule
      1:55: error: unknown key 'users' in listeners[0].callers.unix
    an upstream without a scheme | upstream: https://orders.example/ | upstream: orders.example
      11:15: error: routes[0].upstream: 'orders.example' begins neither with https:// nor with http://: write the whole
        URL
    an upstream of another scheme | upstream: https:// | upstream: ftp://
      11:15: error: routes[0].upstream: 'ftp://orders.example/' begins neither with https:// nor with http://: write the
        whole URL
    an upstream in clear | upstream: https:// | upstream: http://
      11:15: error: routes[0].upstream: the token of route 'orders' would travel in clear to orders.example; use https:,
        or set allow_plaintext: true
    a password in an upstream | upstream: https:// | upstream: https://me:pass@
      11:15: error: routes[0].upstream: a URL here has no user name and no password in it: remove them
    a path without its slash | path: /orders/ | path: orders
      10:11: error: routes[0].path: 'orders' does not begin and end with '/'
    a path with a query | path: /orders/ | path: /orders/?all=1
      10:11: error: routes[0].path: '/orders/?all=1' does not begin and end with '/'
    a scope instead of a list | [orders.read] | orders.read
      13:38: error: routes[0].token.scopes takes a list: write [orders.read]
    scopes with blanks between | [orders.read] | ["orders.read orders.write"]
      13:39: error: routes[0].token.scopes[0]: 'orders.read orders.write' is not one scope (no blanks, quotes,
        backslashes): write [a, b]
    an unknown prompt of a rule | scopes: [orders.read] | scopes: [orders.read], existing: remove
      13:63: error: routes[0].token.existing is one of replace, keep, reject, not 'remove'
    a time without a unit | token: { | timeouts: {connect: 30}⏎    token: {
      13:25: error: routes[0].timeouts.connect is a duration such as 500ms, 30s, 5m or 1h, not '30'
    a size without a unit | routes: | limits: {body_bytes: 10000000}⏎routes:
      8:22: error: limits.body_bytes is a size such as 512B, 64KiB or 1MiB, not '10000000'
    a number out of range | routes: | loops: 0⏎routes:
      8:8: error: loops is a whole number from 1 to 256, not '0'
    a level of another program | routes: | log: {level: verbose}⏎routes:
      8:14: error: log.level is one of debug, info, warning, error, not 'verbose'
    yes for true | "127.0.0.1:0" | "127.0.0.1:0", sign_in: yes
      1:47: error: listeners[0].sign_in is true, false or {public_url: URL, limit: DURATION, logout: true}, not 'yes'
    pages in clear | "127.0.0.1:0" | "127.0.0.1:0", sign_in: {public_url: "http://proxy.example"}
      1:60: error: listeners[0].sign_in.public_url: 'http://proxy.example' is not https
    Entra without a tenant | https://id.example/tenant | https://login.microsoftonline.com
      5:16: error: applications.app.authority: 'https://login.microsoftonline.com' names no tenant: add its id or domain
        to the path
    an authority in clear | https://id.example/tenant | http://id.example/tenant
      5:16: error: applications.app.authority: the client secret would travel in clear to 'http://id.example/tenant';
        http: is for a loopback address only
    an authority from the address bar | https://id.example/tenant | "https://id.example/tenant?p=1"
      5:16: error: applications.app.authority: 'https://id.example/tenant?p=1' has a query; an issuer has none: remove
        it
    the metadata service as a provider | https://id.example/tenant | http://169.254.169.254/
      5:16: error: applications.app.authority: the client secret would travel in clear to 'http://169.254.169.254/';
        http: is for a loopback address only
    a secret and its file | client_secret: s3cret-of-the-app | client_secret: s3cret-of-the-app⏎    client_secret_file:
        secret
      8:5: error: applications.app has both 'client_secret' and 'client_secret_file'; keep one
    a token of the application without a secret |     client_secret: s3cret-of-the-app⏎
      11:18: error: routes[0].application: application 'app' has no credential (client_secret_file,
        client_assertion_file, credential), which as: application needs
    two caches | {file: cache.json} | {file: cache.json, redis: "redis://127.0.0.1"}
      2:27: error: cache has both 'file' and 'redis'; keep one
    a cache that is a directory | {file: cache.json} | {file: cache/}
      2:15: error: cache.file names a file, not a directory: 'cache/'
    a Redis server of another scheme | {file: cache.json} | {redis: "http://127.0.0.1"}
      2:16: error: cache.redis begins neither with redis:// nor with rediss://
    a tab |     path: /orders/ | \tpath: /orders/
      10:1: error: YAML is indented with spaces; this is a tab
    a line indented too far |     path: /orders/ |       path: /orders/
      10:11: error: a ':' is not expected here: the line is indented too far, or its value contains ': ' and needs
        quotes
    a line not indented enough |     path: /orders/ |    path: /orders/
      10:4: error: this line is in the list that begins on line 9 and is no element of it: begin it with '- ', or indent
        it like the keys of its section
    a quote that is open | client_id: orders-proxy | client_id: "orders-proxy
      14:1: error: the quoted text that begins on line 6 has no closing quote
    a bracket that is open | [orders.read]} | [orders.read}
      13:50: error: the list that begins with '[' on line 13 lacks a ',' or its ']' before this
    a list without its dash |   - name: orders |     name: orders
      9:5: error: routes takes a list, each element beginning with '-'
    a secret file that is not there | client_secret: s3cret-of-the-app | client_secret_file: absent
      7:25: error: applications.app.client_secret_file: cannot read absent: No such file or directory
    an empty secret file | client_secret: s3cret-of-the-app | client_secret_file: empty
      7:25: error: applications.app.client_secret_file: empty is empty
    a variable that is not set | client_secret: s3cret-of-the-app | client_secret: ${CLIENT_SECRET}
      7:20: error: applications.app.client_secret refers to 'CLIENT_SECRET', which the environment does not have: set it
        where the process starts
    a dollar in a secret | client_secret: s3cret-of-the-app | client_secret: pa$$word$1
      7:20: error: applications.app.client_secret has a '$' that is neither '${NAME}' nor '$$' (a dollar)
    trust that is no certificate | client_id: orders-proxy | client_id: orders-proxy⏎    tls: {ca_file: empty}
      7:20: error: applications.app.tls.ca_file: empty holds no usable certification authorities: no certificate or crl
        found
    a header that HTTP uses | "127.0.0.1:0" | "127.0.0.1:0", callers: {header: {name: Authorization, value:
        0123456789abcdef}}
      1:63: error: listeners[0].callers.header.name: 'Authorization' has another meaning already; take a name such as
        X-Proxy-Key
    a short caller secret | "127.0.0.1:0" | "127.0.0.1:0", callers: {header: {name: X-Key, value: short}}
      1:56: error: listeners[0].callers.header: the secret is at least 16 visible ASCII characters: 'openssl rand -hex
        24' makes one
    a host with a port | "127.0.0.1:0" | "127.0.0.1:0", hosts: ["proxy.example:443"]
      1:46: error: listeners[0].hosts[0]: 'proxy.example:443' is not a host name (no scheme, no port)
    """)
}
