import Testing
import Tokens

@Suite("Reply form") struct ReplyFormTests {
  @Test(
    arguments: [
      ("a=1&b=2", "a", "1"), ("a=x%20y+z", "a", "x y z"), ("a=%C3%A9", "a", "é"), ("a=b=c", "a", "b=c"),
      ("a%5B=1", "a[", "1"), ("&&a=1&", "a", "1"), ("a=", "a", nil), ("a", "a", nil), ("", "a", nil), ("A=1", "a", nil),
    ] as [(String, String, String?)]) func `a parameter is found under its decoded name`(
      body: String, name: String, value: String?
    ) throws
  {
    #expect(try ReplyForm(Array(body.utf8))[name] == value)
  }

  @Test(arguments: [
    ("a=1&a=2", ReplyForm.Problem.repeated), ("a=&%61=2", .repeated), ("a=%", .encoding), ("a=%4", .encoding),
    ("a=%zz", .encoding), ("a=%FF", .encoding),
  ]) func `a malformed or repeated member is rejected`(body: String, expected: ReplyForm.Problem) {
    #expect(throws: expected) { try ReplyForm(Array(body.utf8)) }
  }
}
