import Testing

@testable import reprise

@Suite struct PageChoiceTests {
  private func choose(_ places: [Int], of count: Int, most: Int) -> PageChoice {
    PageChoice(around: places, of: count, most: most, neighbours: 2)
  }

  @Test(
    arguments: [
      ([], 10, 4, [0..<4], 0), ([], 3, 4, [0..<3], 0), ([7], 10, 5, [5..<10], 5),
      ([7], 20, 7, [0..<2, 5..<10], 5), ([7], 20, 10, [0..<10], 5), ([7], 20, 12, [0..<12], 5),
      ([0], 20, 4, [0..<4], 3), ([19], 20, 4, [0..<1, 17..<20], 3),
      // What lies around two of them is taken once.
      ([5, 8], 20, 8, [3..<11], 8), ([5, 9], 20, 10, [0..<1, 3..<12], 9),
      ([5, 10], 30, 12, [0..<2, 3..<13], 10), ([5, 5], 20, 5, [3..<8], 5),
      // Where there is no room for all neighbours, each finding has some; where there is none for all findings, the first
      // are there.
      ([5, 15, 25], 30, 8, [0..<1, 4..<7, 14..<17, 25..<26], 7),
      ([5, 15, 25], 30, 9, [4..<7, 14..<17, 24..<27], 9),
      ([5, 15, 25], 30, 13, [3..<8, 13..<18, 24..<27], 13),
      ([5, 15, 25], 30, 2, [5..<6, 15..<16], 2), ([5, 5, 15, 25], 30, 2, [5..<6, 15..<16], 2),
      ([5], 30, 0, [], 0), ([2], 3, 9, [0..<3], 3),
    ] as [([Int], Int, Int, [Range<Int>], Int)])
  func takesWhatIsAroundFindingsFirst(
    places: [Int], count: Int, most: Int, ranges: [Range<Int>], near: Int
  ) {
    let choice = choose(places, of: count, most: most)
    #expect(choice.ranges == ranges)
    #expect(choice.nearFindings == near)
    #expect(choice.count == min(most, count))
  }

  @Test func tellsOfEachEventInOrder() {
    var choice = choose([7, 15], of: 30, most: 12)
    let chosen = (0..<30).filter { choice.contains($0) }
    #expect(chosen == [0, 1, 5, 6, 7, 8, 9, 13, 14, 15, 16, 17])
    var all = PageChoice(all: 3)
    let taken = (0..<5).filter { all.contains($0) }
    #expect(taken == [0, 1, 2])
    var none = PageChoice(all: 0)
    let isTaken = none.contains(0)
    #expect(!isTaken)
  }
}
