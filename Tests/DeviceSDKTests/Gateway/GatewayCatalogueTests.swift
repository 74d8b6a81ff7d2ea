import Foundation
import RepriseCore
import Testing

/// The catalogue of the gateway's clauses, and that none of them is without its check.
@Suite struct GatewayCatalogueTests {
  /// The numbers behind the names of clauses in comments of this target, as in `SDK-gateway-9, 35`.
  private static func testedNumbers() throws -> Set<Int> {
    let target = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
      .deletingLastPathComponent()
    let files = FileManager.default.enumerator(atPath: target.path)?.compactMap { $0 as? String }
    var numbers: Set<Int> = []
    for file in files ?? [] where file.hasSuffix(".swift") && !#filePath.hasSuffix(file) {
      let text = try String(contentsOf: target.appending(path: file), encoding: .utf8)
      for line in text.split(separator: "\n") {
        let parts = line.split(separator: "/// SDK-gateway-", maxSplits: 1)
        guard let list = parts.last, list.count < line.count, line.contains("/// SDK-gateway-")
        else { continue }
        numbers.formUnion(list.split(separator: ",").compactMap { Int($0.filter(\.isNumber)) })
      }
    }
    return numbers
  }

  private static func clauses() throws -> [JSONValue] {
    guard case .array(let clauses) = try ConformanceFile.json("gateway.json") else { return [] }
    return clauses
  }

  @Test func numbersItsClauses() throws {
    let clauses = try Self.clauses()
    for (index, clause) in clauses.enumerated() {
      #expect(clause["id"]?.text == "SDK-gateway-\(index + 1)")
      #expect(["MUST", "SHOULD", "MAY"].contains(clause["level"]?.text))
      #expect(["vendor", "inferred"].contains(clause["basis"]?.text))
      #expect(clause["section"]?.text?.hasPrefix("2.") == true)
      #expect(clause["summary"]?.text?.hasSuffix(".") == true)
      #expect(["test", "scenario", "scenario and test"].contains(clause["check"]?.text))
    }
    #expect(clauses.count >= 70)
  }

  @Test func hasATestForEveryClauseThatSaysSo() throws {
    let wanted = try Self.clauses().enumerated().filter {
      $0.element["check"]?.text?.hasSuffix("test") == true
    }
    let tested = try Self.testedNumbers()
    let missing = wanted.map { $0.offset + 1 }.filter { !tested.contains($0) }
    #expect(missing == [], "no test names these clauses")
    #expect(tested.isSubset(of: 1...wanted.count), "a test names a clause that does not exist")
  }
}
