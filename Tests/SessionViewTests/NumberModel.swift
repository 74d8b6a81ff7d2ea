import RepriseCore

@testable import SessionView

/// A model of numbers for tests of the viewer; the thing n is in frame 10 n, and answers n - 1 where n is odd.
struct NumberModel: ViewedModel {
  var count: Int
  /// What findings are about, and what they rest on.
  var found: [(thing: Int, cause: Int)] = []

  var name: String { "numbers" }
  var progress: String? { nil }

  func row(at index: Int) -> StyledText { StyledText("thing \(index)") }
  func text(at index: Int) -> String { "thing \(index) is Number \(index)" }
  func details(at index: Int, width: Int) -> [PageLine] {
    (0..<50).map { PageLine("detail \($0) of \(index)") }
  }
  func frame(at index: Int) -> Int? { 10 * index }
  func place(atOrBehind frame: Int) -> Int? {
    count == 0 ? nil : min((frame + 9) / 10, count - 1)
  }
  func partner(of index: Int) -> Int? { index.isMultiple(of: 2) ? nil : index - 1 }
  func command(at index: Int?) -> String { "show \(index ?? -1)" }

  var findingCount: Int { found.count }
  var untoldFindings = 0
  func finding(at place: Int) -> StyledText { StyledText("finding \(place)") }
  func thing(ofFinding place: Int) -> Int? { found[place].thing }
  func cause(ofFinding place: Int) -> Int? { found[place].cause }
  func findings(at index: Int) -> [Int] { found.indices.filter { found[$0].thing == index } }

  /// Chooses multiples of a number.
  func choice(_ text: String) throws(FilterError) -> Int {
    guard let number = Int(text), number > 0 else {
      throw FilterError(message: "no number", expression: text, column: 1)
    }
    return number
  }
  func isChosen(_ index: Int, by choice: inout Int) -> Bool { index.isMultiple(of: choice) }
  func completions(of text: String) -> (replaced: Int, words: [String]) {
    (text.count, ["100", "107", "25"].filter { $0.hasPrefix(text) })
  }
}
