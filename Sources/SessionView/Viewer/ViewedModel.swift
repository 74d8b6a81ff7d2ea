package import RepriseCore

/// What a viewer shows: a list of things that happened, each with more to tell.
package protocol ViewedModel {
  /// What chooses some of the things.
  associatedtype Choice

  /// The name of what is looked at.
  var name: String { get }
  /// How many things there are.
  var count: Int { get }
  /// What is still to come, for the title, such as `reading`; nil where all is there.
  var progress: String? { get }

  /// One of the things, in a line.
  func row(at index: Int) -> StyledText
  /// One of the things as text to search in, which may tell more than the line.
  func text(at index: Int) -> String
  /// All that there is to one of the things.
  /// - Parameters:
  ///   - index: The place of the thing.
  ///   - width: How many columns there are.
  /// - Returns: The lines, which may be longer.
  func details(at index: Int, width: Int) -> [PageLine]
  /// Where in the file one of the things stands; nil for what is in no frame.
  func frame(at index: Int) -> Int?
  /// The first thing of a frame, or of the next one.
  func place(atOrBehind frame: Int) -> Int?
  /// What one of the things answers, or what answers it.
  func partner(of index: Int) -> Int?
  /// The command that shows the same again.
  func command(at index: Int?) -> String

  /// How many findings there are.
  var findingCount: Int { get }
  /// How many violations are not among them.
  var untoldFindings: Int { get }
  /// A finding, in a line.
  func finding(at place: Int) -> StyledText
  /// What a finding is about.
  func thing(ofFinding place: Int) -> Int?
  /// What led to a finding.
  func cause(ofFinding place: Int) -> Int?
  /// The findings of one of the things.
  func findings(at index: Int) -> [Int]

  /// Reads what a user types to choose some of the things.
  /// - Throws: ``RepriseCore/FilterError`` for what can't be understood.
  func choice(_ text: String) throws(FilterError) -> Choice
  /// Whether the next thing is chosen; asked of all, in order.
  func isChosen(_ index: Int, by choice: inout Choice) -> Bool
  /// What could be typed next in the line that chooses.
  /// - Parameter text: What stands before the cursor.
  /// - Returns: How many characters at its end are replaced, and by what they can be.
  func completions(of text: String) -> (replaced: Int, words: [String])
}
