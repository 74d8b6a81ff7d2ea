import Foundation
import FuzzTargets
import Testing

/// A short run of each fuzz target; `make fuzz` makes long ones.
@Suite struct FuzzTargetTests {
  private static let files: [[UInt8]] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Recordings"
    ).standardizedFileURL
    let names =
      FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(".pcap") || $0.hasSuffix(".jsonl") }.sorted()
      .compactMap { try? Data(contentsOf: folder.appending(path: $0)) }
      .filter { $0.count <= 64 << 10 }.map { Array($0) }
  }()

  @Test(arguments: FuzzTarget.allCases) func takesAnyBytes(_ target: FuzzTarget) throws {
    #expect(Self.files.count > 20)
    let corpus = target.corpus(from: Self.files)
    try #require(corpus.count > 3)
    for input in corpus.prefix(100) { target.run(input) }
    var inputs = FuzzInput(corpus, seed: 1)
    for _ in 0..<(target == .capture ? 150 : 600) { target.run(inputs.next()) }
  }

  @Test func theSameSeedGivesTheSameInputs() {
    var (one, other, third) = (
      FuzzInput([[1, 2, 3]], seed: 7), FuzzInput([[1, 2, 3]], seed: 7),
      FuzzInput([[1, 2, 3]], seed: 8)
    )
    let inputs = (0..<50).map { _ in one.next() }
    #expect(inputs == (0..<50).map { _ in other.next() })
    #expect(inputs != (0..<50).map { _ in third.next() })
  }
}
