extension TroubleshootingPage {
  /// Warnings, listeners, callers and applications.
  static var listeners: String {
    #"""
    ### Warnings

    `bearer-proxy check` says these and exits 0: the configuration is allowed, and hardly ever meant.

    - `…: warning: …`\
      The form of a warning. **Cure:** Read what follows it.
    - `route '…' needs a person, and no one can sign in: set 'cache: {file: PATH}' for 'bearer-proxy login', or
      'sign_in: true' on a listener for sign-in pages`\
      Tokens are kept in the memory of the proxy, which `login` cannot reach, and there are no pages. **Cure:** Add one
      of the two.
    - `… is a placeholder: write the id under which the application is registered with its provider`\
      The client id is one of an example. **Cure:** Copy the application's id from the provider.
    - `… contains a placeholder: write your tenant's id or domain`\
      The authority is one of an example. **Cure:** Copy the directory's id from the portal.
    - `… is a URL, such as an API's: write the id under which the application is registered`\
      `client_id` has the URI of an API. **Cure:** Copy the application's id from the provider.
    - `the client secret of application '…' has the form of an id: the portal lists 'Secret ID' beside 'Value', and the
      value is the secret`\
      Entra's portal shows the value once, when the secret is made. **Cure:** Copy the value; if it is not known, make
      another secret.
    - `begins or ends with a blank, which is part of it: remove the blank if the secret has none`\
      Only line ends behind a secret are left out. **Cure:** Remove the blank: `printf %s 'SECRET' > FILE`.
    - `begins and ends with a quotation mark, which is part of it: remove both if the secret has none`\
      A secret's file contains no quotes of YAML or of a shell. **Cure:** Remove them.
    - `looks like JSON: keep the secret's value alone`\
      The text is what a command printed about the secret. **Cure:** Keep the value alone.
    - `looks like NAME=VALUE: keep the value alone`\
      The text is a line of a `.env` file. **Cure:** Keep what is behind the `=`.
    - `is a placeholder: put the secret in its place`\
      The secret is one of an example. **Cure:** Put the provider's in its place.
    - `…can be written by group … (mode 0…); chmod g-w… helps`\
      The members of that group can change the file, or replace it by way of the directory that the message names.
      **Cure:** The command in the message, unless they all may decide what the proxy does.
    - `…belongs to another user (uid …), who can change it; give it to root or to the proxy's user, or run as that
      user`\
      The file, or a directory on the way to it, is neither root's nor the user's that this process runs as. **Cure:**
      `chown` it, or run the command as the proxy's user.
    - `plain HTTP at port 443, where a server usually expects https:`\
      The scheme and the port of `upstream` do not fit. **Cure:** `https:`, unless this server differs.
    - `TLS at port 80, where a server usually expects http:`\
      The scheme and the port of `upstream` do not fit. **Cure:** Correct one of them.

    ### Listeners and callers

    - `listeners is empty: no program could call`\
      `listeners: []`. **Cure:** Add one: `- address: 127.0.0.1:8080`.
    - `is not an address such as 127.0.0.1:8080, [::1]:8080 or unix:/run/bearer-proxy.sock`\
      The value is not an address. **Cure:** Write one of these forms.
    - `names a host; a listener takes an IP address such as 127.0.0.1 or [::1]`\
      A name could later resolve to another address. **Cure:** Write the address. Names that callers use belong under
      `hosts`.
    - `has no port from 0 to 65535 behind the address`\
      The port is missing or too large. **Cure:** Add a port; 0 lets the system choose.
    - `is not an absolute path of at most 107 bytes behind 'unix:'`\
      The path is relative, or too long for the system. **Cure:** Use a short absolute path.
    - `… is already the address of line …`\
      Two listeners have the same address. **Cure:** Remove one.
    - `…: '…' is not a host name (no scheme, no port)`\
      The value is a URL or `host:port`. **Cure:** Write the name only.
    - `… can be reached from other machines: say under callers who may call (…), or listen at a loopback address or a
      unix socket`\
      All who can reach the address could use the tokens. **Cure:** Add a rule under `callers`, or choose another
      address.
    - `… has both 'anyone' and '…'; keep one`\
      `anyone` makes the other rule useless. **Cure:** Keep one of them.
    - `… is for a unix socket; other callers show no user: take another rule`\
      `callers.unix` at a TCP address. **Cure:** Listen on `unix:…`, or use another rule.
    - `… is a user's or group's number, not '…'`\
      The value is a name. **Cure:** `id -u NAME` prints the number.
    - `…: '…' is not a field name`\
      The name contains a character that field names cannot have. **Cure:** Choose a name such as `X-Proxy-Key`.
    - `…: '…' has another meaning already; take a name such as X-Proxy-Key`\
      HTTP itself uses this field. **Cure:** Choose another name.
    - `…: the secret is at least 16 visible ASCII characters: 'openssl rand -hex 24' makes one`\
      The secret is too short, or contains blanks. **Cure:** `openssl rand -hex 24` makes one.
    - `… needs a listener that speaks TLS: give it 'tls'`\
      Client certificates need TLS. **Cure:** Add `tls` to the listener.
    - `…: '…' is not an origin such as …`\
      The value has a path, or the scheme's default port. **Cure:** Write scheme and host, and a port only if it is not
      the default.
    - `cannot write access records to …: …`\
      The directory of `log.access_file` does not exist, or this user cannot write it. **Cure:** Create it for the
      proxy's user.
    - `cannot listen on …: …`\
      The address is in use or not this machine's, or this user may not create files in the directory of the unix
      socket. **Cure:** `ss -ltnp` shows the other program: stop it, or choose another address. In a reload, it may be
      the proxy itself at an overlapping address such as `0.0.0.0`: restart it.
    - `cannot listen on …: …; a port below 1024 needs CAP_NET_BIND_SERVICE at the start, or a socket unit of systemd`\
      The proxy's user may not use such a port, or the process gave the capability up because no listener needed it when
      it started. **Cure:** Follow [Ports below 1024](README.md#ports-below-1024), then restart it.
    - `… needs a restart: the process has given up the right to run it`\
      A reload names another command than the start, which the confined process may not run. **Cure:** Restart the
      proxy.
    - `… needs a restart: the process has given up the right to make files there`\
      A reload adds a unix socket in another directory. The process can write only to the directories of its start.
      **Cure:** Restart it, or keep the socket's directory.

    ### Applications and their authorities

    - `'…' begins neither with https:// nor with http://: write the whole URL`\
      The value is not a URL. **Cure:** Add the scheme.
    - `a URL here has no user name and no password in it: remove them`\
      `https://user:password@…`. **Cure:** Remove it; credentials have their own settings.
    - `'…' has no host that could be looked up`\
      The host is missing or misspelled. **Cure:** Correct it.
    - `'…' has a port that is not a number from 1 to 65535`\
      A wrong port. **Cure:** Correct it.
    - `'…' has a fragment, a blank or a non-ASCII character`\
      The URL has a `#` or a character that must be percent-encoded. **Cure:** Remove or encode it.
    - `the client secret would travel in clear to '…'; http: is for a loopback address only`\
      An `http:` authority on another machine. **Cure:** Use `https:`.
    - `…: '…' is …, not the authority`\
      The URL is one of the provider's endpoints, as other products want it. The authority is the issuer, which the
      endpoints are found by. **Cure:** Write the URL that the message suggests.
    - `'…' has a query; an issuer has none: remove it`\
      The value was perhaps copied from a browser's address bar. **Cure:** Use the issuer from the provider's metadata.
    - `'…' names no tenant: add its id or domain to the path`\
      `https://login.microsoftonline.com` alone. **Cure:** Add the tenant, or `organizations` for people.
    - `'…' is not a tenant: neither an id, nor a domain`\
      The tenant is misspelled. **Cure:** Use the directory's id from the portal, or its domain.
    - `… needs an authority with https:, whose handshake shows the certificate`\
      `mutual_tls` at an `http:` authority. **Cure:** Use the provider's `https:` address.
    - `… was Microsoft's cloud in Germany, which was closed in 2021: its tenants are gone`\
      The authority is `login.microsoftonline.de`. **Cure:** Use the tenant's new authority, usually at
      `login.microsoftonline.com`.
    - `… is for Entra's tenants; the authority … of application '…' has none`\
      A route names a `tenant`, and its application's provider has none. **Cure:** Remove it, or give the realm or
      policy an application of its own.
    """#
  }
}
