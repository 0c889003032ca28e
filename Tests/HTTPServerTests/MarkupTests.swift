// Text between tags stays text, whatever it is.

import HTTPServer
import Testing

@Suite struct MarkupTests {
  @Test func `text in HTML stays text, and HTML in it stays HTML`() {
    let hostile = "\"><script>'&amp;"
    let piece: Markup = "<b title=\"\(hostile)\">\(hostile)</b>"
    let escaped = "&quot;&gt;&lt;script&gt;&#39;&amp;amp;"
    #expect(piece.text == "<b title=\"\(escaped)\">\(escaped)</b>")
    let page: Markup = "<p>\(piece)\([piece, piece])</p>"
    #expect(page.text == "<p>\(piece.text)\(piece.text)\(piece.text)</p>")
  }
}
