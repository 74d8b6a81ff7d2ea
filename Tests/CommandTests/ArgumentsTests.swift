import Testing

@testable import reprise

@Suite struct ArgumentsTests {
  private static let flag = OptionSpec(name: "flag", letter: "f", help: "")
  private static let mode = OptionSpec(
    name: "mode", letter: "m", value: "MODE", choices: ["slow", "fast"], help: "")
  private static let list = OptionSpec(name: "list", value: "ITEM", isList: true, help: "")
  private static let spec = CommandSpec(
    name: "try", summary: "", operands: "FILE...", operandCount: 0...3,
    options: [flag, mode, list, .output])

  @Test(
    arguments: [
      ([], [], false, nil, [], nil),
      (["a", "b"], ["a", "b"], false, nil, [], nil),
      (["--flag", "a"], ["a"], true, nil, [], nil),
      (["a", "--flag"], ["a"], true, nil, [], nil),
      (["--mode", "fast", "a"], ["a"], false, "fast", [], nil),
      (["a", "--mode=fast"], ["a"], false, "fast", [], nil),
      (["--mode", "slow", "--mode=fast"], [], false, "fast", [], nil),
      (["-m", "fast"], [], false, "fast", [], nil),
      (["-mfast"], [], false, "fast", [], nil),
      (["-fmfast", "a"], ["a"], true, "fast", [], nil),
      (["--list", "a,b", "--list=c"], [], false, nil, ["a", "b", "c"], nil),
      (["--list", ",,a,"], [], false, nil, ["a"], nil),
      (["-o", "-", "-"], ["-"], false, nil, [], "-"),
      (["-o=x", "-o=y=z"], [], false, nil, [], "y=z"),
      (["--output="], [], false, nil, [], ""),
      (["--", "--flag", "-m"], ["--flag", "-m"], false, nil, [], nil),
      (["a", "--", "--"], ["a", "--"], false, nil, [], nil),
      (["--output", "--flag"], [], false, nil, [], "--flag"),
    ] as [([String], [String], Bool, String?, [String], String?)])
  func takesWordsApart(
    words: [String], operands: [String], flag: Bool, mode: String?, list: [String], output: String?
  ) throws {
    let arguments = try Arguments(words, for: Self.spec)
    #expect(arguments.operands == operands)
    #expect(arguments.has(Self.flag) == flag)
    #expect(arguments.value(Self.mode) == mode)
    #expect(arguments.list(Self.list) == list)
    #expect(arguments.value(.output) == output)
  }

  @Test(arguments: [
    (["--flg"], "unknown option --flg; did you mean --flag? type reprise help try"),
    (["--wombat"], "unknown option --wombat; type reprise help try"),
    (["-x"], "unknown option -x; type reprise help try"),
    (["--flag=1"], "--flag takes no value; type --flag alone"),
    (["--mode"], "--mode needs a value; type --mode MODE"),
    (["-m"], "-m needs a value; type -m MODE"),
    (
      ["--mode", "fsat"],
      "--mode can't be 'fsat'; did you mean fast? it takes one of: slow, fast"
    ),
    (
      ["a", "b", "c", "d"],
      "try takes no further word, but there is 'd'; type reprise help try"
    ),
  ])
  func saysWhatToTypeInstead(words: [String], message: String) throws {
    let error = #expect(throws: UsageError.self) { try Arguments(words, for: Self.spec) }
    #expect(error?.description == message)
  }

  @Test func needsItsOperands() throws {
    let error = #expect(throws: UsageError.self) {
      try Arguments(["--quiet"], for: RecordClientCommand.spec)
    }
    #expect(error?.description == "record client needs URL; type reprise help record client")
  }

  @Test func needsNoOperandsToHelp() throws {
    #expect(try Arguments(["--help"], for: RecordClientCommand.spec).has(.help))
    #expect(try Arguments(["-h"], for: InspectCommand.spec).has(.help))
  }
}
