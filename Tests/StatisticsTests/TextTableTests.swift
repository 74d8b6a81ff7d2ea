import RepriseCore
import Testing

@testable import Statistics

/// Tables of 80 columns.
@Suite struct TextTableTests {
  private let long =
    "plant/0020/cell025/client3/" + String(repeating: "x", count: 60) + "/temperature"

  private func lines(_ table: TextTable) -> [String] {
    table.text(Paint(isOn: false)).split(separator: "\n").map(String.init)
  }

  @Test func marksAreNotCutWithTheirNames() {
    var table = TextTable(["topic", "sent"])
    table.cutsMiddle = true
    table.add([long, "1"], mark: " (-113)")
    table.add(["short", "2"], mark: " (-2)")
    table.add([long + "2", "3"])
    let lines = lines(table)
    #expect(lines.map(\.count) == [80, 80, 80, 80])
    #expect(lines[1].hasPrefix("plant/0020/cell025") && lines[1].contains("/temperature (-113)  "))
    #expect(lines[2].hasPrefix("short (-2) "))
    #expect(lines[3].contains("…") && lines[3].contains("temperature2  "))
  }

  @Test func namesAreCutAtTheirEndsWhereThatIsAsked() {
    var table = TextTable(["connection", "sent", "ended"], endsInText: true)
    table.add(["#1 " + long, "1", String(repeating: "y", count: 40)])
    let line = lines(table)[1]
    #expect(line.count == 80 && line.hasPrefix("#1 plant/0020/cell025") && line.hasSuffix("yyy…"))
    var roomy = TextTable(["problem", "count", "first at"], endsInText: true)
    roomy.add(["p", "1", String(repeating: "y", count: 60)])
    #expect(lines(roomy)[1].hasSuffix(String(repeating: "y", count: 60)))
  }
}
