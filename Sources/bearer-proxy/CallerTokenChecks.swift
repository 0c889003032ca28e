// Owns the judges of callers' tokens of one configuration, and which of them stay for the next: a judge knows its issuer's keys.

import Configuration
import HTTPClient
import Identity
import Network
import Tokens

/// The judges in use.
struct CallerTokenChecks {
  private struct Entry {
    var authority: Authority
    var audiences: Set<String>
    var tls: TLSContext?
    var proxy: ProxyChoice
    var check: CallerTokenCheck
  }

  private var entries: [Entry] = []
  private let contexts: [String?: TLSContext]

  /// The judges that a configuration asks for. Those of `former` that judge by the same rule stay.
  init(_ settings: Settings, contexts: TLSContexts, fetcher: Fetcher, succeeding former: CallerTokenChecks? = nil) {
    self.contexts = contexts.callerIssuers
    for rule in settings.callerTokenRules {
      let tls = contexts.callerIssuers[rule.caFile?.value]
      let check = known(rule, tls) ?? former?.known(rule, tls) ?? CallerTokenCheck(rule, fetcher: fetcher, tls: tls)
      entries.append(
        Entry(
          authority: rule.authority.value, audiences: rule.audiences, tls: tls, proxy: rule.proxy, check: check))
    }
  }

  /// The judge by a rule of the configuration.
  func check(_ rule: CallerSettings.BearerRule) -> CallerTokenCheck {
    guard let check = known(rule, contexts[rule.caFile?.value]) else {
      preconditionFailure("there is a judge for every rule of the configuration")
    }
    return check
  }

  private func known(_ rule: CallerSettings.BearerRule, _ tls: TLSContext?) -> CallerTokenCheck? {
    entries.first {
      $0.authority == rule.authority.value && $0.audiences == rule.audiences && $0.tls === tls && $0.proxy == rule.proxy
    }?.check
  }
}
