// Owns the way from the settings of callers to the rules by which they are judged.

import Configuration
import HTTPClient
import Identity
import Network
import Proxy
import Tokens

extension CallerRules {
  /// The rules that a configuration lays down.
  init(_ settings: CallerSettings, tokenCheck: (CallerSettings.BearerRule) -> CallerTokenCheck) {
    self.init(refusesCrossSite: !settings.isOpen, origins: settings.origins)
    peers = settings.peers.map { ($0.users, $0.groups) }
    header = settings.header.map { Header(name: $0.name, value: $0.value) }
    certificateNames = settings.certificate?.subjects
    bearer = settings.bearer.map(tokenCheck)
  }
}

extension CallerTokenCheck {
  /// Judges the tokens that `rule` speaks of; their issuer's keys come through `fetcher`.
  init(_ rule: CallerSettings.BearerRule, fetcher: Fetcher, tls: TLSContext?) {
    let choice = rule.proxy
    let fetch = fetcher.bound(tls: tls) { url in choice.proxy(for: url).map { ConnectProxy($0) } }
    let issuer = Application(
      name: "callers", authority: rule.authority.value, clientID: "", credential: nil,
      trust: rule.caFile?.value ?? "", fetch: fetch)
    self.init(issuer: issuer, audiences: rule.audiences, now: { UnixTime(WallClock.now.seconds) })
  }
}
