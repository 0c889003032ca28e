// The guess at what a misspelt word was meant to be.

/// The candidate that is few enough typing mistakes away from `word`: a third of its letters, at least one. A
/// transposition counts as one mistake. The first of several equally near candidates wins; an exact match is no guess.
package func nearestWord(to word: String, among candidates: some Sequence<String>) -> String? {
  var best: (word: String, distance: Int)?
  for candidate in candidates where candidate != word {
    let limit = max(1, min(word.count, candidate.count) / 3)
    let distance = typingDistance(Array(word.lowercased()), Array(candidate.lowercased()))
    if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  return best?.word
}

/// Optimal string alignment: insertions, deletions, substitutions and transpositions of neighbours.
private func typingDistance(_ left: [Character], _ right: [Character]) -> Int {
  var beforePrevious: [Int] = []
  var previous = Array(0...right.count)
  for row in 1..<(left.count + 1) {
    var current = [row]
    for column in 1..<(right.count + 1) {
      let cost = left[row - 1] == right[column - 1] ? 0 : 1
      var distance = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + cost)
      if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
        distance = min(distance, beforePrevious[column - 2] + 1)
      }
      current.append(distance)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[right.count]
}
