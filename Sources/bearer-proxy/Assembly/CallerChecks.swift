// The judges of callers' tokens, and which of them stay through a reload: a judge knows its issuer's keys.

import Bytes
import Configuration
import HTTPClient
import Identity
import Platform
import Proxy
import Tokens

extension CallerTokenCheck {
  /// Judges the tokens that `rule` is about; their issuer's keys come through `fetcher`.
  init(_ rule: CallerSettings.Issuer, fetcher: Fetcher, tls: TLSContext?) {
    let choice = rule.proxy
    let fetch = fetcher.bound(tls: tls) { url in choice.proxy(for: url) }
    let issuer = Application(
      name: "callers", authority: rule.authority.value, clientID: "", credential: nil, trust: rule.caFile?.value ?? "",
      fetch: fetch)
    self.init(issuer: issuer, audiences: rule.audiences, scopes: rule.scopes, now: { .now })
  }
}

/// The judges in use.
struct CallerTokenChecks {
  private struct Entry {
    var rule: CallerSettings.Issuer
    var tls: TLSContext?
    var check: CallerTokenCheck
  }

  private var entries: [Entry] = []
  private let contexts: [String?: TLSContext]

  /// The judges that a configuration asks for. Those of `former` that judge by the same rule stay.
  init(_ configuration: LoadedConfiguration, fetcher: Fetcher, succeeding former: CallerTokenChecks?) {
    contexts = configuration.contexts.callerIssuers
    for rule in configuration.settings.callerIssuers {
      let tls = contexts[rule.caFile?.value]
      let check = known(rule, tls) ?? former?.known(rule, tls) ?? CallerTokenCheck(rule, fetcher: fetcher, tls: tls)
      entries.append(Entry(rule: rule, tls: tls, check: check))
    }
  }

  /// The judge of the tokens of an issuer in the configuration.
  func check(_ rule: CallerSettings.Issuer) -> CallerTokenCheck {
    guard let check = known(rule, contexts[rule.caFile?.value]) else {
      preconditionFailure("there is a judge for every rule of the configuration")
    }
    return check
  }

  private func known(_ rule: CallerSettings.Issuer, _ tls: TLSContext?) -> CallerTokenCheck? {
    entries.first {
      $0.rule.authority.value == rule.authority.value && $0.rule.audiences == rule.audiences
        && $0.rule.scopes == rule.scopes && $0.rule.proxy == rule.proxy && $0.tls === tls
    }?.check
  }
}
