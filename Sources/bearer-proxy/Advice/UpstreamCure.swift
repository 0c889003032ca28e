/// Cures for the way to an upstream, and for a probe's answer.
enum UpstreamCure: Cure {
  case host, forbiddenAddress, refused, firewall
  case https, protocolOrTLS, http2, withoutHTTP2, withoutWebSockets, responseTime, passed
  case plaintext, noToken, fixedField, audience, scope, path, pause, trouble, unknownStatus
  case health

  func text(_ parts: CureParts) -> String {
    switch self {
    case .host: "Is the host in `upstream` spelt right, and does this machine's resolver know it?"
    case .forbiddenAddress: "Such an address is never contacted. Which name was meant?"
    case .refused: "Nothing listens at that address and port, or a firewall refuses."
    case .firewall: "Does a firewall drop what goes there? `timeouts: {connect: …}` says how long is waited."
    case .https: "The upstream speaks TLS at this port: write https: in `upstream`."
    case .protocolOrTLS:
      "Does the upstream speak the route's `protocol` at this port? If it speaks TLS there, write https: in `upstream`."
    case .http2: "The connection is there: does the upstream speak the route's `protocol` at this port?"
    case .withoutHTTP2: "The upstream does not speak HTTP/2: set `protocol: auto` or `protocol: http1`."
    case .withoutWebSockets:
      "Does the upstream take WebSockets with HTTP/1.1? Then `protocol: auto` uses that for them."
    case .responseTime: "The connection is there: `timeouts: {response_head: …}` says how long an answer is waited for."
    case .passed: "Try again: what worked a moment ago did not work now."
    case .plaintext:
      "If the upstream speaks TLS at this port, write https: in `upstream`; else, what does it expect of this request?"
    case .noToken: "The upstream wants to know who calls, and the route has no token."
    case .fixedField:
      "The upstream does not take the key or password. Is it the present one, and in the field and form that the API "
        + "expects?"
    case .audience:
      "The upstream does not take the token. Is it for this API? Compare the route's scopes with what the API expects."
    case .scope: "The token is right and not enough: which permission or scope does the API want?"
    case .path: "Is there something to GET at this path? Set `probe` to a path that there is."
    case .pause: "The upstream wants to be left alone for a while."
    case .trouble: "The upstream has trouble of its own."
    case .health: "The server takes calls and says itself that it cannot serve them: its own log has the reason."
    case .unknownStatus: "What does the upstream's documentation say about this status?"
    }
  }
}

/// Cures for a TLS handshake with an upstream or a provider.
enum TLSCure: Cure {
  case expired, notYetValid, providerName, upstreamName, serverName, authority, authorityInFile, notTLS
  case clientCertificate, nothingInCommon, provider, upstream

  func text(_ parts: CureParts) -> String {
    let (peer, trust, address) = (parts.peer, parts.trust, parts.address)
    let device = "A device on the way may show a certificate of its own; then it is that device's authority."
    let upstreamName = "Is the host in `upstream` the one that the certificate names?"
    let server =
      "Is there a TLS server at the address in \(address)? If so, name the authority that issued its "
      + "certificate in \(trust)"
    return switch self {
    case .expired:
      "The \(peer)'s certificate has expired: its operator has to renew it. If it has not, this machine's clock is "
        + "wrong (date -u)."
    case .notYetValid: "The \(peer)'s certificate is not valid yet: is this machine's clock right (date -u)?"
    case .providerName: "Is the host in `authority` of \(parts.application) the one that the certificate names?"
    case .upstreamName: upstreamName
    case .serverName:
      "\(upstreamName) If it has to be another, write the certificate's name as `tls: {server_name: …}` of the route."
    case .authority: "Name the authority that issued the \(peer)'s certificate in \(trust). \(device)"
    case .authorityInFile:
      "The file \(parts.trustFile), which \(trust) names, lacks the authority that issued the \(peer)'s certificate: "
        + "add that authority's certificate to the file, not the \(peer)'s own. \(device)"
    case .notTLS: "What answers there speaks no TLS: is the port in \(address) right, or is it http: instead of https:?"
    case .clientCertificate:
      "The \(peer) wants a client certificate, or another one: see `certificate_file` and `key_file` in "
        + "config/full.yaml."
    case .nothingInCommon: "The \(peer) offers no TLS 1.2 or 1.3 with forward secrecy: its operator has to update it."
    case .provider: "\(server)."
    case .upstream: "\(server), or the certificate's name in `server_name`."
    }
  }
}
