// Callers that are let in by their connection and a field.

import Bytes
import HTTP
import Testing
import Tokens

@testable import Routing

@Suite struct CallerRulesTests {
  private static let peers: [(users: Set<UInt32>, groups: Set<UInt32>, peer: (UInt32, UInt32)?, isKnown: Bool)] = [
    ([10, 11], [], (10, 1), true),
    ([10, 11], [], (12, 10), false),
    ([], [20], (12, 20), true),
    ([10], [20], (10, 1), true),
    ([10], [20], (20, 10), false),
    // The numbers that the kernel gives for an unknown peer.
    ([10], [20], (.max, .max), false),
    ([10], [20], nil, false),
  ]

  @Test(arguments: peers) func `a process is known by its user or its group`(
    users: Set<UInt32>, groups: Set<UInt32>, peer: (UInt32, UInt32)?, isKnown: Bool
  ) {
    var rules = CallerRules()
    rules.peers = CallerRules.Peers(users: users, groups: groups)
    #expect(rules.judge(peer: peer, certificateNames: []) == (isKnown ? nil : .unknownPeer))
  }

  private static let certificates: [(allowed: Set<String>?, names: [String], isKnown: Bool)] = [
    (nil, [], true),
    ([], ["CN=whoever"], true),
    (["CN=app"], ["CN=app", "DNS:app.example"], true),
    (["DNS:app.example"], ["CN=app", "DNS:app.example"], true),
    (["URI:spiffe://x/app"], ["CN=app", "URI:spiffe://x/app"], true),
    (["CN=app"], ["CN=app,O=Contoso"], false),
    (["CN=app"], ["cn=APP"], false),
    (["CN=app"], [], false),
    (["DNS:app.example"], ["CN=DNS:app.example"], false),
  ]

  @Test(arguments: certificates)
  func `a certificate is known by its subject or another name`(allowed: Set<String>?, names: [String], isKnown: Bool) {
    var rules = CallerRules()
    rules.certificateNames = allowed
    #expect(rules.judge(peer: nil, certificateNames: names) == (isKnown ? nil : .unknownCertificate))
  }

  @Test(arguments: [
    ("", false), ("X-Key: 0123456789abcdef", true), ("x-KEY:   0123456789abcdef  ", true),
    ("X-Key: 0123456789abcdeF", false), ("X-Key: 0123456789abcde", false), ("X-Key: 0123456789abcdef0", false),
    ("X-Key:", false), ("X_Key: 0123456789abcdef", false), ("X-Keys: 0123456789abcdef", false),
    // Of two, another reader might take the other one.
    ("X-Key: 0123456789abcdef\r\nX-Key: 0123456789abcdef", false),
    ("X-Key: wrong\r\nX-Key: 0123456789abcdef", false),
  ])
  func `the field must carry the secret, once, and goes no further`(fields: String, isRight: Bool) throws {
    var rules = CallerRules()
    rules.header = CallerRules.Header(name: "X-Key", value: Secret("0123456789abcdef"))
    let check = CallerCheck(names: nil, rules: rules)
    let lines = fields.isEmpty ? "" : fields + "\r\n"
    try withRequest("GET / HTTP/1.1\r\nHost: a\r\nAccept: x\r\n\(lines)\r\n") { head, input in
      #expect(check.judge(head, input.bytes) == (isRight ? nil : .missingSecret))
      for index in 0..<head.fields.count {
        let name = input.bytes.extracting(head.fields[index].name)
        #expect(rules.consumes(head.fields[index], input.bytes) == name.equalsIgnoringCase("x-key"))
      }
    }
  }
}
