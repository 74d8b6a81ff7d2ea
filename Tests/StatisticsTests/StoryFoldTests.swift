import RepriseCore
import Testing
import Wire

@testable import Statistics

/// Connections that go as others before them.
@Suite struct StoryFoldTests {
  /// What happens on a connection, a letter a sentence: `(` opens it, `)` ends it.
  private static func sentences(_ courses: [(connection: Int, letters: String)]) -> [Sentence] {
    var frame = 0
    return courses.flatMap { course in
      course.letters.map { letter in
        frame += 1
        let context = EventContext(
          time: Timestamp(nanoseconds: Int64(frame)), frame: frame, connection: course.connection,
          sender: .client, wire: .mqtt(.v3_1_1))
        switch letter {
        case "(":
          return Sentence(context, "opens a connection from 10.0.0.1:\(frame)", .opening)
        case ")": return Sentence(context, "ends it after \(frame) ms", .ending)
        default: return Sentence(context, "says \(letter) (\(frame) B)")
        }
      }
    }
  }

  /// Each line as the frame of its sentence, or the frames, the connections and the text of a repetition.
  private static func folded(_ courses: [(connection: Int, letters: String)]) -> [String] {
    StoryFold.fold(sentences(courses)).map { line in
      switch line {
      case .sentence(let sentence): "\(sentence.frame)"
      case .repetition(let repetition):
        "\(repetition.first.frame)-\(repetition.last.frame) #\(repetition.first.connection)-"
          + "\(repetition.last.connection) \(repetition.text)"
      }
    }
  }

  @Test(
    arguments: [
      // The last one is always told.
      ([(1, "(a)"), (2, "(a)")], ["1", "2", "3", "4", "5", "6"]),
      (
        [(1, "(a)"), (2, "(a)"), (3, "(a)")],
        ["1", "2", "3", "4-6 #2-2 goes as connection 1", "7", "8", "9"]
      ),
      (
        [(1, "(a)"), (2, "(b)"), (3, "(a)"), (4, "(b)"), (5, "(a)"), (6, "(c)")],
        [
          "1", "2", "3", "4", "5", "6",
          "7-15 #3-5 3 connections go as others before: 2 as 1, 1 as 2", "16", "17", "18",
        ]
      ),
      (
        [(1, "(a)"), (2, "(a)"), (3, "(a)"), (4, "(b)")],
        ["1", "2", "3", "4-9 #2-3 2 connections go as connection 1", "10", "11", "12"]
      ),
      // An end of several sentences is one.
      (
        [(1, "(a))"), (2, "(a))"), (3, "(b)")],
        ["1", "2", "3", "4", "5-8 #2-2 goes as connection 1", "9", "10", "11"]
      ),
      // Something else between them is told where it is.
      (
        [(1, "(a)"), (2, "(a)"), (9, "x"), (3, "(a)"), (4, "(b)")],
        [
          "1", "2", "3", "4-6 #2-2 goes as connection 1", "7", "8-10 #3-3 goes as connection 1",
          "11", "12", "13",
        ]
      ),
      // Of what runs into another one nothing is left out, nor of what has no end, or no beginning.
      (
        [(1, "(a)"), (2, "(a"), (3, "(a"), (2, ")"), (3, ")"), (4, "a)"), (5, "(a"), (6, "(b)")],
        (1...16).map { "\($0)" }
      ),
    ] as [([(Int, String)], [String])])
  func areOneLine(_ courses: [(Int, String)], _ lines: [String]) {
    #expect(Self.folded(courses.map { (connection: $0.0, letters: $0.1) }) == lines)
  }
}
