import Telemetry
import Testing

@Suite struct TraceStateTests {
  private static let longKey = String(repeating: "k", count: 256)
  private static let longValue = String(repeating: "v", count: 256)

  static let readings: [([String], String?)] = [
    (["a=1"], "a=1"), (["a=1,b=2"], "a=1,b=2"), ([" a=1 ,\t b=2 "], "a=1,b=2"), (["a=1", "b=2"], "a=1,b=2"),
    (["a=1,,b=2,"], "a=1,b=2"), (["0t@v=x y"], "0t@v=x y"), (["a_-*/@z=!~"], "a_-*/@z=!~"),
    (["\(longKey)=1"], "\(longKey)=1"), (["a=\(longValue)"], "a=\(longValue)"),
    ([(0..<32).map { "k\($0)=v" }.joined(separator: ",")], (0..<32).map { "k\($0)=v" }.joined(separator: ",")),
    ([], nil), ([""], nil), ([" , "], nil), (["a"], nil), (["=1"], nil), (["a="], nil), (["a=1=2"], nil),
    (["A=1"], nil), (["_a=1"], nil), (["a b=1"], nil), (["a=\u{7F}"], nil), (["a=é"], nil), (["a=1,a=2"], nil),
    (["a=1", "a=2"], nil), (["\(longKey)k=1"], nil), (["a=\(longValue)v"], nil), (["a=1", "b"], nil),
    ([(0..<33).map { "k\($0)=v" }.joined(separator: ",")], nil),
  ]

  @Test(arguments: readings)
  func `a list is read whole or not at all`(values: [String], text: String?) {
    #expect(TraceState(values)?.text == text)
  }
}
