// deploy/troubleshooting.md, which is built into the program. Behind a mark such as <!--cacheDamaged-->, which browsers
// do not show, comes that cure, up to the next mark; <!--/--> ends the last one before words of the page's own.

import Bytes
import CProgram
import Telemetry

/// The page, with the present text of each cure.
func troubleshootingPage(_ page: String = String(cString: troubleshooting_page())) -> String {
  var lines: [String] = []
  var paragraph: [Substring] = []
  func endParagraph() {
    if paragraph.contains(where: { $0.contains("<!--") }) {
      let margin = String(paragraph[0].prefix { $0 == " " })
      let text = renewed(paragraph.joined(separator: " "))
      lines += text.inLines(of: 120 - margin.count).map { margin + $0 }
    } else {
      lines += paragraph.map(String.init)
    }
    paragraph = []
  }
  for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
    if line.hasPrefix("- `") || line.isEmpty { endParagraph() }
    paragraph.append(line)
    if line.hasSuffix("\\") || line.isEmpty { endParagraph() }
  }
  endParagraph()
  return lines.joined(separator: "\n")
}

private func renewed(_ text: String) -> String {
  let pieces = text.split(separator: "<!--", omittingEmptySubsequences: false)
  return pieces.dropFirst().reduce(String(pieces[0])) { text, piece in
    let parts = piece.split(separator: "-->", maxSplits: 1, omittingEmptySubsequences: false)
    let cure = Cure(rawValue: String(parts[0]))
    return "\(text)<!--\(parts[0])-->" + (cure.map { " \($0.text())" } ?? String(parts.last ?? ""))
  }
}
