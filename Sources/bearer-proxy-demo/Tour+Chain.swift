// The part of the tour in which a person's token becomes another one at each of two proxies.

import Bytes
import DemoProvider

extension Tour {
  private typealias Sample = DemoDirectory.Sample

  mutating func chain() throws(SpawnError) {
    begin(
      "Two more proxies (gateway.yaml, branch.yaml) stand in a row. Each asks for a token in its caller's name, in "
        + "exchange for the one that it was called with.")
    let answer = try run(
      ["curl", "-sSi", "\(places.proxyOrigin)/chain/me"], brief: \.caller, showsExchanges: false)
    let tokens = lastExchanges.filter { $0.path.hasSuffix("/token") && $0.status == 200 }.map(\.note)
    if !terminal.isVerbose {
      for (number, note) in tokens.enumerated() { terminal.indented("\(number + 1): \(note)") }
    }
    let hops = [
      ("Orders desk", "\(Sample.gatewayURI)/Gateway.Access"), ("Gateway", "\(Sample.branchURI)/Branch.Access"),
      ("Branch", "\(Sample.ordersURI)/Orders.Read"),
    ]
    let seen = Seen(answer.body)?.caller
    expect(
      answer.httpStatus == 200 && seen?.user == Sample.alice && seen?.application == Sample.branch
        && tokens == hops.map { "token for \(Sample.alice) by \($0.0): \($0.1)" },
      "200, and the API saw Alice: each token is hers, is for the next hop, and names who asked")
  }

  mutating func chainWithoutToken() throws(SpawnError) {
    begin("A caller without a token gets nowhere there: no proxy calls on in its own name.")
    let answer = try run(["curl", "-sSi", "\(places.gatewayOrigin)/me"], brief: \.problem)
    expect(
      answer.httpStatus == 401 && lastExchanges.isEmpty,
      "401, from the first of the two: neither the API nor the provider saw anything")
  }
}
