// Callers that are let in by their connection and a field.

import Bytes
import HTTP
import Testing
import Tokens

@testable import Routing

@Suite struct CallerRulesTests {
  struct Peer: Sendable {
    var user: UInt32
    var group: UInt32
  }

  struct PeerRow: Sendable {
    var users: Set<UInt32> = []
    var groups: Set<UInt32> = []
    var peer: Peer?
    var isKnown: Bool
  }

  private static let peerRows = [
    PeerRow(users: [10, 11], peer: Peer(user: 10, group: 1), isKnown: true),
    PeerRow(users: [10, 11], peer: Peer(user: 12, group: 10), isKnown: false),
    PeerRow(groups: [20], peer: Peer(user: 12, group: 20), isKnown: true),
    PeerRow(users: [10], groups: [20], peer: Peer(user: 10, group: 1), isKnown: true),
    PeerRow(users: [10], groups: [20], peer: Peer(user: 20, group: 10), isKnown: false),
    // The numbers that the kernel gives for an unknown peer.
    PeerRow(users: [10], groups: [20], peer: Peer(user: .max, group: .max), isKnown: false),
    PeerRow(users: [10], groups: [20], peer: nil, isKnown: false),
  ]

  @Test(arguments: peerRows) func `a process is known by its user or its group`(row: PeerRow) {
    var rules = CallerRules()
    rules.peers = CallerRules.Peers(users: row.users, groups: row.groups)
    let refusal = rules.judge(peer: row.peer.map { ($0.user, $0.group) }, certificateNames: [])
    #expect(refusal == (row.isKnown ? nil : .unknownPeer))
  }

  struct CertificateRow: Sendable {
    var allowed: Set<String>?
    var names: [String]
    var isKnown: Bool
  }

  private static let certificateRows = [
    CertificateRow(allowed: nil, names: [], isKnown: true),
    CertificateRow(allowed: [], names: ["CN=whoever"], isKnown: true),
    CertificateRow(allowed: ["CN=app"], names: ["CN=app", "DNS:app.example"], isKnown: true),
    CertificateRow(allowed: ["DNS:app.example"], names: ["CN=app", "DNS:app.example"], isKnown: true),
    CertificateRow(allowed: ["URI:spiffe://x/app"], names: ["CN=app", "URI:spiffe://x/app"], isKnown: true),
    CertificateRow(allowed: ["CN=app"], names: ["CN=app,O=Contoso"], isKnown: false),
    CertificateRow(allowed: ["CN=app"], names: ["cn=APP"], isKnown: false),
    CertificateRow(allowed: ["CN=app"], names: [], isKnown: false),
    CertificateRow(allowed: ["DNS:app.example"], names: ["CN=DNS:app.example"], isKnown: false),
  ]

  @Test(arguments: certificateRows)
  func `a certificate is known by its subject or another name`(row: CertificateRow) {
    var rules = CallerRules()
    rules.certificateNames = row.allowed
    #expect(rules.judge(peer: nil, certificateNames: row.names) == (row.isKnown ? nil : .unknownCertificate))
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
