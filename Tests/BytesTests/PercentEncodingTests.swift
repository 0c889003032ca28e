// The decoding of percent-encoded text, and invalid encodings.

import Bytes
import Testing

@Suite struct PercentEncodingTests {
  @Test(arguments: [("", ""), ("a%2Fb%2fc", "a/b/c"), ("%25%32%35", "%25"), ("a+b", "a+b"), ("%41%c3%A4", "Aä")])
  func `a percent sign and two digits are one byte`(text: String, meaning: String) {
    #expect(PercentEncoding.decoded(text.utf8) == Array(meaning.utf8))
  }

  @Test(arguments: ["%", "a%4", "%4g", "%+4", "%-1", "% 1", "%%41", "%4%31"])
  func `a percent sign without two digits is refused`(text: String) {
    #expect(PercentEncoding.decoded(text.utf8) == nil)
    #expect(PercentEncoding.decoded(text.utf8, isForm: true) == nil)
  }

  @Test func `in a form a plus is a space`() {
    #expect(PercentEncoding.decoded("a+b%2B".utf8, isForm: true) == Array("a b+".utf8))
  }
}
