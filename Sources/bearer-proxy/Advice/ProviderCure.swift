/// Cures for an identity provider that gives no token, and for what proves the application.
enum ProviderCure: Cure {
  case host, refused, firewall, https, proxy, address, metadata, trouble, cache
  case proof, otherApplication, gcp, githubActions, assertionFile, actor, signature
  case projectedToken, tokenFile, program, issuer
  case commandStart, commandTime, commandExpiry, commandOutput
  case arcKey, arcIdentity, arcAgent, identityUpdate, identityPause, identityService, identityAssignment
  case clientSecret, certificate, handshakeCertificate, commandAssertion, federatedCredential, boundTokens, clock
  case agent, agentConsent, grantType, scopes, permission, unknownCode, callerToken
  case credentialOrDevice, proxyPassword, tokenEndpoint, unknownStatus
  case redirectURI, loopbackRedirectURI

  func text(_ parts: CureParts) -> String {
    let (application, program) = (parts.application, parts.program)
    let clock = "If it does, is this machine's clock right (date -u)?"
    let passage = "have the firewall or proxy on the way let POST requests to the token endpoint through"
    let trial =
      "Run it by hand as the proxy's user, with its variables alone: env -i BEARER_PROXY_CLIENT_ID=… \(program)"
    return switch self {
    case .host: "Is the host in `authority` of \(application) spelt right, and does this machine's resolver know it?"
    case .refused:
      "Nothing listens at that address and port, or a firewall refuses: is `authority` of \(application) right?"
    case .firewall: "Is a firewall between this machine and the provider?"
    case .https: "The provider speaks TLS at that port: write https: in `authority` of \(application)."
    case .proxy:
      "It is the proxy of HTTPS_PROXY or of the configuration. `proxy: none` avoids it, and NO_PROXY lists hosts that "
        + "are reached directly."
    case .address: "Is `authority` of \(application) the provider's address, and not some other service's?"
    case .metadata:
      "Check `authority` of \(application): it is the issuer, which has /.well-known/openid-configuration below it."
    case .trouble: "The provider has trouble of its own. Try again later, and look at its status page."
    case .cache: "See what is said about the cache above: no account can be found in it until it is repaired."
    case .proof: "Look at what proves \(application)."
    case .otherApplication:
      "Correct \(parts.blueprint) first: its tokens prove \(application). A route of its own shows more in "
        + "`check --live`."
    case .gcp:
      "Is this a machine, pod or job of Google Cloud with a service account, and does no network policy keep the proxy "
        + "from its metadata server?"
    case .githubActions: "Has the job `permissions: {id-token: write}`, and does it still run? Its token ends with it."
    case .assertionFile:
      "Look at the file that `client_assertion_file` of \(application) names: it has to hold a JWT that this user may "
        + "read."
    case .actor: "Look at the file that `actor` of the route names: it has to hold a JWT that this user may read."
    case .signature: "Try again. If it stays so, look at the key of \(application): OpenSSL makes no signature with it."
    case .projectedToken:
      "The kubelet renews a projected token: look at the pod's events (kubectl describe pod) and at the kubelet of its "
        + "node; a pod without the volume, or a node that lost its API server, keeps the old token. \(clock)"
    case .tokenFile:
      "Does the agent that writes \(parts.file) still run (spiffe-helper, Vault agent, a timer), and can it write the "
        + "file? \(clock)"
    case .program: "The program has to bring a new client assertion before the former one ends."
    case .issuer: "Is this machine's clock right (date -u)? If it is, that issuer hands out old tokens: look there."
    case .commandStart:
      "Is \(program) there and executable for the proxy's user, is its interpreter, and does neither the unit "
        + "(NoExecPaths, SystemCallFilter) nor the container image keep it from running?"
    case .commandTime:
      "\(trial). It waits for something: a prompt, a lock, a host. `timeout` of `assertion_command` gives it longer."
    case .commandExpiry: "\(trial), and look at `exp`; is this machine's clock right (date -u)?"
    case .commandOutput: "\(trial). It has to print the JWT alone on its standard output, and to end with status 0."
    case .arcKey:
      "Only members of the group `himds` may read the agent's keys: add the proxy's user to it (usermod -aG himds "
        + "USER)."
    case .arcIdentity:
      "Update the agent of Azure Arc, which ignores user-assigned identities, or leave the identity's id out."
    case .arcAgent: "Is it the agent of Azure Arc that listens at IDENTITY_ENDPOINT?"
    case .identityUpdate: "The service is being updated, and is back within 70 s. The proxy asks again by itself."
    case .identityPause:
      "The service wants to be left alone, and the proxy keeps to that. If it stays so, find what else on this machine "
        + "asks it all the time."
    case .identityService:
      "Is this a machine of Azure's with an identity, does a network policy keep the proxy from that "
        + "address\(parts.leftovers)? `source` of `managed_identity` overrules what was found."
    case .identityAssignment:
      "Assign the identity to this machine, or correct its id under `managed_identity`. What was assigned a moment ago "
        + "is known some minutes later; the proxy asks again every minute."
    case .clientSecret:
      "Check `client_id` and the client secret of \(application): the secret may be wrong, have expired, or be another "
        + "application's; the portal's list shows a secret's id, which is not the secret."
    case .certificate:
      "Register the certificate with the thumbprint \(parts.thumbprint) for \(application) at the provider, and check "
        + "`client_id` and `authority`. If it is registered, does the provider want another `algorithm`, `key_id`, "
        + "`audience` or `send_chain`?"
    case .handshakeCertificate:
      "Register the certificate with the thumbprint \(parts.thumbprint) for \(application) at the provider, with "
        + "tls_client_auth or self_signed_tls_client_auth, and check `client_id`. Does the token endpoint, or its "
        + "alias in mtls_endpoint_aliases, ask for certificates?"
    case .commandAssertion:
      "Compare the JWT that the command of \(application) prints with what is registered at the provider: issuer, "
        + "subject and audience (`check --live` shows them), the key that signs it, and its times."
    case .federatedCredential:
      "Register a federated credential for \(application) with exactly the issuer, subject and audience of the token "
        + "that proves it: `check --live` shows them. What was registered a moment ago is known some minutes later; "
        + "the proxy asks again every 10 seconds for 5 minutes, then every minute."
    case .boundTokens:
      "Set `bound_tokens: true` under `mutual_tls` of \(application), so that upstreams are shown the certificate; or "
        + "have the provider give tokens that are not bound."
    case .clock:
      "Set this machine's clock (a container has its host's) and keep it right (timedatectl set-ntp true, or chrony): "
        + "else tokens are used after their end, or not at all."
    case .agent:
      "Check `agent` and the tenant: it has to be an agent identity of the tenant whose blueprint is "
        + "\(parts.blueprint)."
    case .agentConsent:
      "No person signs in for an agent: look at the consent and the Conditional Access policies for \(application)."
    case .grantType:
      "The provider does not let \(application) ask this way: allow it there, or check `client_id` and `authority`."
    case .scopes:
      "Check `scopes` of the route: the provider does not know them, or \(application) may not ask for them."
    case .permission: "Grant \(application) what it asks for, at the provider."
    case .unknownCode: "Look the code up in the provider's documentation; what it is about is \(application)."
    case .callerToken: "Nothing is to be done here: the caller is told what its token lacks."
    case .credentialOrDevice:
      "Check `client_id` and the client credential of \(application) first: some providers answer a wrong one like "
        + "this. If the text is not the provider's, \(passage)."
    case .proxyPassword:
      "A proxy on the way wants a user name and a password: write them in `proxy` of \(application), or in "
        + "HTTPS_PROXY, through a variable."
    case .tokenEndpoint:
      "There is no token endpoint at the address in the provider's metadata: compare token_endpoint there with the "
        + "provider's documentation, and check `authority` of \(application). If the text is not the provider's, "
        + "\(passage)."
    case .unknownStatus:
      "Does the provider's documentation know this status? If the text is not the provider's, \(passage)."
    case .redirectURI, .loopbackRedirectURI:
      "Register the redirect URI \(parts.redirectURI) for client_id \(parts.clientID) at the provider, and check "
        + "`client_id` of \(application)."
        + (self == .redirectURI
          ? "" : " If another one of this machine is registered, `login` takes it with --port or --redirect-uri.")
    }
  }
}
