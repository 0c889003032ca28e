// What to do about what proves an application: tokens of other issuers that have ended, and answers that say nothing
// but a status.

import Configuration
import Identity
import Tokens

extension CheckAdvice {
  /// About a token of another issuer that has ended.
  func advice(expired origin: ClientAssertionOrigin) -> String {
    let clock = " If it does, is this machine's clock right (date -u)?"
    return switch origin {
    case .file(let path) where isProjected(path):
      "The kubelet renews a projected token: look at the pod's events (kubectl describe pod) and at the kubelet of its "
        + "node; a pod without the volume, or a node that lost its API server, keeps the old token." + clock
    case .file(let path):
      "Does the agent that writes \(path) still run (spiffe-helper, Vault agent, a timer), and can it write the file?"
        + clock
    case .program: "The program has to bring a new client assertion before the former one ends."
    case .issuer: "Is this machine's clock right (date -u)? If it is, that issuer hands out old tokens: look there."
    }
  }

  /// About a command that prints no JWT.
  func advice(command program: String, _ error: AcquisitionError) -> String {
    let trial =
      "Run it by hand as the proxy's user, with its variables alone: env -i BEARER_PROXY_CLIENT_ID=… \(program)"
    return switch error {
    case .providerUnavailable(.assertion(.command(.notStarted)), _):
      "Is \(program) there and executable for the proxy's user, is its interpreter, and does neither the unit "
        + "(NoExecPaths, SystemCallFilter) nor the container image keep it from running?"
    case .providerUnavailable(.assertion(.command(.timedOut)), _):
      "\(trial). It waits for something: a prompt, a lock, a host. 'timeout' of 'assertion_command' gives it longer."
    case .providerUnavailable(.assertion(.expired), _):
      "\(trial), and look at 'exp'; is this machine's clock right (date -u)?"
    default: "\(trial). It has to print the JWT alone on its standard output, and to end with status 0."
    }
  }

  /// Whether a file is one of a pod's projected volumes, by where it is or by who named it.
  private func isProjected(_ path: String) -> Bool {
    if path.hasPrefix("/var/run/secrets/") || path.hasPrefix("/run/secrets/kubernetes.io/") { return true }
    guard case .assertionFile(let file)? = application?.credential else { return false }
    return file.file.value == path && !file.variables.isEmpty
  }

  /// About an answer of the token endpoint that has no OAuth error: its status alone says what it may be about.
  func advice(withoutCode reply: TokenErrorReply) -> String {
    let passage = "have the firewall or proxy on the way let POST requests to the token endpoint through"
    return switch reply.error {
    case "status 400", "status 401", "status 403":
      "Check 'client_id' and the client credential of \(section) first: some providers answer a wrong one like this. "
        + "If the text is not the provider's, \(passage)."
    case "status 407":
      "A proxy on the way wants a user name and a password: write them in 'proxy' of \(section), or in HTTPS_PROXY, "
        + "through a variable."
    case "status 404", "status 405", "status 410", "status 301", "status 302", "status 303", "status 307", "status 308":
      "There is no token endpoint at the address in the provider's metadata: compare token_endpoint there with the "
        + "provider's documentation, and check 'authority' of \(section). If the text is not the provider's, "
        + "\(passage)."
    default:
      "Does the provider's documentation know this status? If the text is not the provider's, \(passage)."
    }
  }
}
