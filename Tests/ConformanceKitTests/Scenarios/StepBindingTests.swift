import RepriseCore
import Testing

@testable import ConformanceKit

@Suite("Which clauses a step shows")
struct StepBindingTests {
  private func scenario(
    _ clauses: [String], _ steps: [JSONValue]
  ) throws(ConformanceError) -> Scenario {
    try Scenario(
      [
        "name": "made-up", "title": "", "clauses": .array(clauses.map(JSONValue.string)),
        "steps": .array(steps),
      ], of: .channel)
  }

  @Test(
    "A scenario whose steps and clauses do not fit is refused",
    arguments: [
      (["a"], [["call": "x", "clause": "b"]], "shows b in step 1 and does not name it"),
      (["a", "b"], [["call": "x", "clause": "a"]], "names b, which none of its steps shows"),
      (["a", "b"], [["call": "x"]], "names a, which none of its steps shows"),
      (
        ["a"], [["call": "x"], ["wait": 1, "clause": ["a", nil, nil], "expect": ["l"]]],
        "has 3 clauses for 1 lines in step 2"
      ),
      (
        ["a"],
        [
          ["call": "x", "clause": "a"],
          ["call": "y", "clause": ["a", "c"], "expect": ["k", "l"]],
        ],
        "shows c in step 2 and does not name it"
      ),
    ] as [([String], [JSONValue], String)])
  func refuses(clauses: [String], steps: [JSONValue], message: String) {
    let error = #expect(throws: ConformanceError.self) { try scenario(clauses, steps) }
    #expect(error?.message == "the scenario made-up \(message)")
  }

  @Test("Where no step says so, each shows the only clause that there is")
  func oneClause() throws {
    let steps: [JSONValue] = [["call": "x", "expect": ["l"]], ["wait": 1]]
    #expect(try scenario(["a"], steps).steps.map(\.binding.clauses) == [["a"], ["a"]])
    #expect(try scenario([], steps).steps.map(\.binding.clauses) == [[], []])
    let led = try scenario(["a"], [["call": "x"], ["wait": 1, "clause": "a"]])
    #expect(led.steps.map(\.binding.clauses) == [[], ["a"]])
    #expect(led.lastStep(showing: "a") == 2 && led.lastStep(showing: "b") == 0)
  }

  /// The step has the lines k, l and m of the clauses a, b and none; what comes next are n of c and, after a
  /// second, o of d.
  @Test(
    "A wrong line is held against its clause",
    arguments: [
      ([], ["a"]), (["x", "l", "m"], ["a"]), (["l", "m"], ["a"]), (["k", "m"], ["b"]),
      (["k", "x", "m"], ["b"]), (["k", "l"], []), (["k", "l", "x"], []),
      // Twice.
      (["k", "k", "l", "m"], ["a"]), (["k", "l", "l", "m"], ["b"]), (["k", "l", "m", "m"], []),
      // In between, behind all, or in another order.
      (["x", "k", "l", "m"], ["a", "b"]), (["k", "l", "m", "x"], ["a", "b"]),
      (["l", "k", "m"], ["a", "b"]),
      // Before its step.
      (["k", "l", "m", "n"], ["c"]), (["k", "l", "m", "o"], ["d"]), (["n", "k", "l", "m"], ["c"]),
      // Nothing is wrong with the lines, but with what was seen of them.
      (["k", "l", "m"], ["a", "b"]),
    ])
  func blames(actual: [String], clauses: [String]) throws {
    let scenario = try scenario(
      ["a", "b", "c", "d"],
      [
        ["call": "x", "clause": ["a", "b", nil], "expect": ["k", "l", "m"]], ["wait": 2],
        ["wait": 1, "clause": ["c", "d"], "expect": ["+0.5 n", "+1 o"]],
      ])
    #expect(scenario.blamed(step: 0, actual: actual) == clauses)
  }

  @Test("What comes behind all lines is held against its own clause, if the step says one")
  func blamesTheRest() throws {
    let scenario = try scenario(
      ["a", "b", "c"],
      [
        ["call": "x", "clause": ["a", "b"], "expect": ["k"]],
        ["call": "y", "clause": "c", "expect": ["l"]],
      ])
    #expect(scenario.blamed(step: 0, actual: ["k", "x"]) == ["b"])
    // What an application asks for later is not early.
    #expect(scenario.blamed(step: 0, actual: ["k", "l"]) == ["b"])
    #expect(scenario.blamed(step: 0, actual: ["x", "k"]) == ["a", "b"])
    #expect(scenario.blamed(step: 0, actual: ["k", "k"]) == ["a"])
    #expect(scenario.blamed(step: 0, actual: []) == ["a"])
    #expect(scenario.blamed(step: 1, actual: ["l", "l"]) == ["c"])
  }

  @Test("What comes of a step that nothing must come of is held against the step")
  func blamesSilence() throws {
    let scenario = try scenario(
      ["a", "b"], [["wait": 1, "clause": "a"], ["wait": 1, "clause": "b", "expect": ["+1 k"]]])
    #expect(scenario.blamed(step: 0, actual: ["+0.5 x"]) == ["a"])
    #expect(scenario.blamed(step: 0, actual: ["+0.5 k"]) == ["b"])
    #expect(scenario.blamed(step: 1, actual: ["+0.5 k"]) == ["b"])
  }
}
