// Forms as OAuth wants them.

import Testing

@testable import DemoProvider

@Suite("Form fields") struct FormFieldsTests {
  @Test(
    arguments: [
      ("a=1&b=2", "a", "1"), ("a=x%20y+z", "a", "x y z"), ("a=%C3%A9", "a", "é"), ("a=b=c", "a", "b=c"),
      ("a%5B=1", "a[", "1"), ("&&a=1&", "a", "1"), ("a=", "a", nil), ("a", "a", nil), ("", "a", nil), ("A=1", "a", nil),
    ] as [(String, String, String?)]) func `a parameter is found under its decoded name`(
      body: String, name: String, value: String?
    ) throws
  {
    #expect(try FormFields(Array(body.utf8))[name] == value)
  }

  @Test(arguments: [
    ("a=1&a=2", FormError.duplicate("a")), ("a=&%61=2", .duplicate("a")), ("a=%", .malformed), ("a=%4", .malformed),
    ("a=%zz", .malformed), ("a=%FF", .malformed),
  ]) func `what is no form, or says a thing twice, is refused`(body: String, expected: FormError) {
    #expect(throws: expected) { try FormFields(Array(body.utf8)) }
  }
}
