/// Finds what someone meant who mistyped a name.
package enum NearestName {
  /// Returns the name that is nearest to a mistyped one.
  /// - Parameters:
  ///   - typed: What was typed.
  ///   - names: The names that exist.
  /// - Returns: The first of the nearest names, whatever their case; nil when none is near.
  package static func find(_ typed: String, in names: [String]) -> String? {
    let typed = Array(typed.lowercased().utf8.prefix(64))
    var best: (name: String, distance: Int)?
    for name in names {
      let letters = Array(name.lowercased().utf8)
      // The start of a name is as near as one slip.
      let isStart = typed.count > 2 && letters.starts(with: typed)
      let distance = isStart ? min(1, letters.count - typed.count) : distance(typed, letters)
      if distance < best?.distance ?? .max { best = (name, distance) }
    }
    // One slip in a short name, two or three in a long one; more is another word.
    guard let best, best.distance <= max(1, min(3, typed.count / 3)) else { return nil }
    return best.name
  }

  /// Counts the letters to add, drop or replace and the neighbours to swap between two words.
  private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var older: [Int] = []
    var last = Array(0...second.count)
    for (row, letter) in first.enumerated() {
      var line = [row + 1]
      line.reserveCapacity(second.count + 1)
      for (column, other) in second.enumerated() {
        var cost = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1)
        cost = min(cost, line[column] + 1)
        if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
          cost = min(cost, older[column - 1] + 1)
        }
        line.append(cost)
      }
      older = last
      last = line
    }
    return last.last ?? 0
  }
}
