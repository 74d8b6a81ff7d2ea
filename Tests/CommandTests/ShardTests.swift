import Foundation
import TestSupport
import Testing

/// Parts of a set of files, judged apart and joined.
@Suite struct ShardTests {
  private static let captures = PackageFolder.captured.map(PackageFolder.capture)

  private func judge(_ words: [String], _ files: [String] = captures) throws
    -> RepriseProcess.Result
  {
    try RepriseProcess.run(["conform", "trace", "--format", "json"] + words + files)
  }

  private func inputs(_ report: String) throws -> [String] {
    let json = try JSONSerialization.jsonObject(with: Data(report.utf8)) as? [String: Any]
    return try #require(json?["inputs"] as? [String])
  }

  @Test(arguments: [1, 3, 40])
  func partsAreTogetherTheWhole(count: Int) throws {
    #expect(Self.captures.count > 15)
    let scratch = Scratch()
    let whole = try judge([])
    var taken: [String] = []
    var reports: [String] = []
    for index in 1...count {
      let part = try judge(["--shard", "\(index)/\(count)"])
      // Of our recordings those of clients that are silent for too long fail.
      #expect(part.status == 0 || part.status == 1)
      let files = try inputs(part.output)
      #expect(part.errors.contains("note: none of the files is of this part") == files.isEmpty)
      taken += files
      reports.append(try scratch.write(Array(part.output.utf8), to: "\(index).json").path)
    }
    #expect(taken.sorted() == Self.captures)
    let joined = try RepriseProcess.run(["report", "merge", "--format", "json"] + reports)
    #expect(joined.status == whole.status)
    #expect(joined.output == whole.output)
  }

  /// The whole has its files as they were named, in whatever order.
  @Test(arguments: [1, 7]) func filesStandAsTheyWereNamed(by step: Int) throws {
    let captures = Self.captures
    let files = captures.indices.map { captures[($0 * step + 5) % captures.count] }
    try #require(Set(files).count == files.count && files != files.sorted())
    let scratch = Scratch()
    let reports = try (1...3).map { index in
      let part = try judge(["--shard", "\(index)/3"], files)
      return try scratch.write(Array(part.output.utf8), to: "\(index).json").path
    }
    let joined = try RepriseProcess.run(
      ["report", "merge", "--format", "json"] + [reports[2], reports[0], reports[1]])
    #expect(joined.output == (try judge([], files)).output)
  }

  /// What one file speaks first may be the only thing that the file of another part speaks.
  @Test func theOrderOfPartsDecidesNothing() throws {
    let files = Self.captures.filter { $0.contains("/keep-alive-") }
    #expect(files.count > 1)
    let scratch = Scratch()
    let reports = try (1...4).map { index in
      let part = try judge(["--shard", "\(index)/4"], files)
      return try scratch.write(Array(part.output.utf8), to: "\(index).json").path
    }
    let whole = try judge([], files)
    for order in [reports, reports.reversed(), [reports[3], reports[1], reports[0], reports[2]]] {
      let joined = try RepriseProcess.run(["report", "merge", "--format", "json"] + order)
      #expect(joined.output == whole.output)
    }
  }

  @Test func nameAndCompanyDecideNothing() throws {
    let scratch = Scratch()
    let file = try #require(Self.captures.first)
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    let other = try scratch.write(bytes, to: "other").path
    for index in 1...5 {
      let words = ["--shard", "\(index)/5"]
      let among = try inputs(try judge(words).output).contains(file)
      #expect(try inputs(try judge(words, [other]).output) == (among ? [other] : []))
    }
  }

  /// A part of nothing but a file that can't be read has a report that says so: the others join it to the whole.
  @Test func whatCannotBeReadIsInTheReportOfItsPart() throws {
    let scratch = Scratch()
    let broken = try scratch.write("neither of both\n", to: "broken.pcap").path
    let files = [try #require(Self.captures.first), broken]
    let whole = try judge([], files)
    #expect(whole.status == 2 && whole.output.contains("\"unread\":[{\"file\":\"\(broken)\""))
    let parts = try (1...8).map { try judge(["--shard", "\($0)/8"], files) }
    #expect(try parts.map { try inputs($0.output) }.contains([broken]))
    #expect(parts.map(\.status).sorted() == [0, 0, 0, 0, 0, 0, 0, 2])
    let reports = try parts.enumerated().map { index, part in
      try scratch.write(Array(part.output.utf8), to: "\(index).json").path
    }
    let joined = try RepriseProcess.run(["report", "merge", "--format", "json"] + reports)
    #expect(joined.status == 2 && joined.output == whole.output)
  }

  @Test func onePartTellsWhatCannotBeRead() throws {
    let results = try (1...3).map { try judge(["--shard", "\($0)/3"], ["/nowhere/at all"]) }
    #expect(results.map(\.status).sorted() == [0, 0, 2])
    #expect(results.filter { $0.errors.contains("/nowhere/at all: ") }.count == 1)
  }

  /// What one part could not read is missing in what all are joined to, and that says so.
  @Test func whatOnePartCannotReadIsToldOfTheWhole() throws {
    let scratch = Scratch()
    // Parts are joined in the order of the names, wherever the checkout stands.
    let files = (["/nowhere/at all"] + Self.captures.prefix(6)).sorted()
    let whole = try judge([], files)
    #expect(whole.status == 2)
    var reports: [String] = []
    for index in 1...2 {
      let part = try judge(["--shard", "\(index)/2"], files)
      reports.append(try scratch.write(Array(part.output.utf8), to: "\(index).json").path)
    }
    let joined = try RepriseProcess.run(["report", "merge", "--format", "json"] + reports)
    #expect(joined.status == 2)
    #expect(joined.errors.hasPrefix("reprise: /nowhere/at all: "))
    #expect(joined.errors == whole.errors)
    #expect(joined.output == whole.output)
    let all = try scratch.write(Array(joined.output.utf8), to: "all.json").path
    let badge = try RepriseProcess.run(["report", "badge", all])
    #expect(badge.output.contains("passed, 1 not read</title>"))
  }

  @Test(arguments: [
    "", "0/3", "4/3", "1", "1/", "/3", "1/3/5", "+1/3", "-1/3", "a/b", "1/65537", "1/0",
  ])
  func refusesWhatIsNoPart(text: String) throws {
    let result = try judge(["--shard=\(text)"])
    #expect(result.status == 2)
    #expect(result.output == "")
    #expect(
      result.errors
        == "reprise: --shard can't be '\(text)'; type which part of how many, counted from 1: 3/16\n"
    )
  }

  @Test func refusesWhatHasNoParts() throws {
    let input = try judge(["--shard", "1/2"], ["-"])
    #expect(input.status == 2)
    #expect(input.errors == "reprise: --shard can't take a part of standard input; name files\n")
  }
}
