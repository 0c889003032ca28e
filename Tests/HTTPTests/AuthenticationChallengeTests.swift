import HTTP
import Testing

@Suite struct AuthenticationChallengeTests {
  private static func list(_ lines: [String]) -> AuthenticationChallengeList {
    var list = AuthenticationChallengeList()
    for line in lines { list.read(Array(line.utf8).span) }
    return list
  }

  /// Every challenge as `scheme[token68]{name=value;…}`, with `!` if it is not well-formed.
  private static func summary(_ list: AuthenticationChallengeList) -> String {
    list.challenges.map { challenge in
      let token68 = challenge.token68.map { "[\($0)]" } ?? ""
      let parameters = challenge.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
      return "\(challenge.scheme)\(token68){\(parameters)}\(challenge.isWellFormed ? "" : "!")"
    }.joined(separator: " ") + (list.isTruncated ? " …" : "")
  }

  @Test(
    arguments: [
      ([], ""),
      ([""], ""),
      ([" ,, \t,"], ""),
      (["Bearer"], "bearer{}"),
      (["Basic realm=\"a\""], "basic{realm=a}"),
      (["BASIC Realm=a"], "basic{realm=a}"),
      (["Basic realm = \"a\" , charset=\t\"UTF-8\""], "basic{realm=a;charset=UTF-8}"),
      ([#"Bearer a="x,y", b="q\"\\\z""#], #"bearer{a=x,y;b=q"\z}"#),
      (["Bearer a=\"\""], "bearer{a=}"),
      (
        ["Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\""],
        "newauth{realm=apps;type=1;title=Login to \"apps\"} basic{realm=simple}"
      ),
      (["NTLM dG9rZW42OA=="], "ntlm[dG9rZW42OA==]{}"),
      (["Negotiate"], "negotiate{}"),
      (["Negotiate, NTLM"], "negotiate{} ntlm{}"),
      (["Negotiate , Basic realm=x"], "negotiate{} basic{realm=x}"),
      (["Negotiate abc, Basic realm=x"], "negotiate[abc]{} basic{realm=x}"),
      (["Bearer, Bearer error=\"a\""], "bearer{} bearer{error=a}"),
      (["Bearer error=\"a\", PoP nonce=\"n\""], "bearer{error=a} pop{nonce=n}"),
      (["Bearer error=\"a\"", "PoP nonce=\"n\""], "bearer{error=a} pop{nonce=n}"),
      (["Bearer error=\"a\"", "claims=\"c\""], "bearer{error=a;claims=c}"),
      (["Bearer a=1, a=2"], "bearer{a=1;a=2}"),
      (["Bearer a=1 b=\"2\" c=3"], "bearer{a=1;b=2;c=3}"),
      (["Bearer a=\"1\" Basic realm=\"x\""], "bearer{a=1} basic{realm=x}"),
      (["X token68 a=b"], "x{} token68{a=b}"),
      (["BEARER ERROR=\"a\", POP NONCE=\"n\"", "Bearer error=\"a\""], "bearer{error=a} pop{nonce=n} bearer{error=a}"),
      (["Bearer a=\"1\",b=\"2\""], "bearer{a=1;b=2}"),
      (["Bearer  a=1"], "bearer{a=1}"),
      (["Bearer ,a=1"], "bearer{a=1}"),
      (["Bearer realm=\"ü\""], "bearer{realm=ü}"),
    ] as [([String], String)])
  func `header-two-schemes, header-token68: challenges are told apart`(lines: [String], expected: String) {
    #expect(Self.summary(Self.list(lines)) == expected)
  }

  @Test(
    arguments: [
      ("Bearer claims=\"{\"access_token\":1}\", b=2", "bearer{b=2}!"),
      ("Bearer a=\"unterminated", "bearer{}!"),
      ("Bearer a=\"ends in a backslash\\", "bearer{}!"),
      ("Bearer a=\"1\"b=2, c=3", "bearer{c=3}!"),
      ("Bearer a=, b=2", "bearer[a=]{b=2}!"),
      ("Bearer b=2, a=", "bearer{b=2}!"),
      ("Bearer b=2, a=@", "bearer{b=2}!"),
      ("Bearer @, b=2", "bearer{b=2}!"),
      ("Bearer/x a=1", " …"),
      ("=", " …"),
      ("a=1, Bearer b=2", " …"),
      ("\"Bearer\"", " …"),
    ])
  func `a malformed element is left out and reported`(line: String, expected: String) {
    #expect(Self.summary(Self.list([line])) == expected)
  }

  @Test func `several lines read as one joined by commas`() {
    let lines = [#"Bearer realm="a, b", error=x"#, "Negotiate", #"NTLM YQ=="#, #"Digest qop="auth,auth-int", x=y"#]
    #expect(Self.list(lines).challenges == Self.list([lines.joined(separator: ", ")]).challenges)
    // In every division at commas between challenges or parameters.
    let pieces = [#"Bearer realm="a, b""#, "error=x", "Negotiate", "NTLM YQ==", #"Digest qop="auth,auth-int""#, "x=y"]
    #expect(Self.list(pieces).challenges == Self.list(lines).challenges)
  }

  @Test func `every beginning of a field can be read`() {
    let whole = Array(#"Bearer a="x\"y,z" , b=c d , NTLM YQ==, =,", Basic "realm"=1"#.utf8)
    for length in 0...whole.count {
      var list = AuthenticationChallengeList()
      list.read(whole.span.extracting(first: length))
      #expect(list.challenges.count <= 4)
    }
  }

  @Test func `members beyond the limits are left out`() {
    let schemes = Self.list([Array(repeating: "A", count: 17).joined(separator: ",")])
    #expect(schemes.challenges.count == AuthenticationChallengeList.challengeLimit)
    #expect(schemes.isTruncated)
    let many = Self.list(["A " + (0..<65).map { "p\($0)=1" }.joined(separator: ",") + ", Bearer error=x"])
    #expect(many.challenges.map(\.parameters.count) == [AuthenticationChallengeList.parameterLimit])
    #expect(many.isTruncated)
    let long = "A p=" + String(repeating: "x", count: AuthenticationChallengeList.byteLimit - 4)
    #expect(!Self.list([long]).isTruncated)
    let longer = Self.list([long, "B"])
    #expect(longer.isTruncated)
    #expect(longer.challenges.map(\.scheme) == ["a"])
  }

  @Test func `a head's other fields are not read`() {
    let list = withResponse(
      "HTTP/1.1 401 \r\nWWW-Authenticate: Bearer error=a\r\nProxy-Authenticate: Basic "
        + "realm=x\r\nwww-authenticate:\tNTLM\r\n\r\n"
    ) { AuthenticationChallengeList($0.fields, in: $1) }
    #expect(Self.summary(list) == "bearer{error=a} ntlm{}")
  }
}
