/// What differs between two texts, line by line.
enum LineDifference {
  /// The most lines that are told.
  private static let limit = 60

  /// Returns the lines of both, those of one alone with `-` or `+` before them.
  /// - Parameters:
  ///   - old: The expected lines.
  ///   - new: The actual ones.
  /// - Returns: The lines; unchanged ones stand only beside changed ones.
  static func lines(from old: [String], to new: [String]) -> [String] {
    var removed: Set<Int> = []
    var inserted: Set<Int> = []
    for change in new.difference(from: old) {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    var result: [(line: String, isChange: Bool)] = []
    var (i, j) = (0, 0)
    while i < old.count || j < new.count {
      if removed.contains(i) {
        result.append(("- \(old[i])", true))
        i += 1
      } else if inserted.contains(j) {
        result.append(("+ \(new[j])", true))
        j += 1
      } else {
        result.append(("  \(old[i])", false))
        (i, j) = (i + 1, j + 1)
      }
    }
    let near = result.indices.filter { index in
      (max(0, index - 2)...min(result.count - 1, index + 2)).contains { result[$0].isChange }
    }
    let shown = near.prefix(limit).map { result[$0].line }
    return shown + (near.count > limit ? ["  … and \(near.count - limit) more lines"] : [])
  }
}
