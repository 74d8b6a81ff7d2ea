import ConformanceKit
import Driver
import Foundation
import RepriseCore
import Testing
import Wire

/// The cases that are part of the command: what holds of each of them.
@Suite("The cases that are part of the command")
struct CaseLibraryTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Conformance")

  @Test(
    "The command has the cases of the folder, each named like its file, in their order",
    arguments: CaseKind.allCases)
  func folder(_ kind: CaseKind) throws {
    let folder = Self.root.appending(path: kind.rawValue)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }
    #expect(!files.isEmpty)
    #expect(try CaseLibrary(kind).cases.map(\.name) == files.sorted())
    for file in files {
      let path = folder.appending(path: "\(file).json")
      let cases = try CaseLibrary.read(Array(Data(contentsOf: path)), kind, file)
      #expect(cases.map(\.name) == [file])
    }
  }

  @Test(
    "Each case is for clauses that bind its subject, have a rule, and are of a version of the case",
    arguments: [CaseKind.broker, .client])
  func clauses(_ kind: CaseKind) throws {
    let catalogue = try Catalogue.bundled().clauses
    for one in try CaseLibrary(kind).cases {
      for clause in one.clauses {
        let meant = one.standards.flatMap { standard in
          one.clauses(of: standard).filter { clause.hasSuffix($0) }.flatMap { id in
            catalogue.filter { $0.id == id && $0.spec == standard }
          }
        }
        #expect(!meant.isEmpty, "\(one.name): no clause \(clause)")
        #expect(
          meant.contains { clause in
            [.checked, .reactive].contains(clause.status)
              && one.subjects.contains { clause.actor != ($0 == .server ? .client : .server) }
          }, "\(one.name): \(clause) does not bind its subject, or has no rule")
      }
    }
  }

  @Test("Every step of every case can be sent", arguments: CaseKind.allCases)
  func steps(_ kind: CaseKind) throws {
    for one in try CaseLibrary(kind).cases {
      for plan in CasePlan.plans(of: one, in: [.v3_1_1, .v5_0]) {
        let lines = try plan.preview().split(separator: "\n")
        #expect(lines.count == plan.steps.count + 1, "\(plan.name)")
      }
    }
  }

  @Test("Every value of a row stands in a step, or in the place of a command of that name")
  func rows() throws {
    for one in try CaseLibrary(.client).cases {
      let steps = one.steps.flatMap(\.fields).map { "\($0.value)" }.joined()
      for value in one.rows.joined() {
        let isPlace = ["qos", "count", "keepalive", "payload", "what"].contains(value.key)
        #expect(isPlace || steps.contains("{\(value.key)}"), "\(one.name): \(value.key)")
      }
    }
  }

  @Test("Every topic and filter that is a case's to choose begins with the run's own")
  func topics() throws {
    // What has a broker of its own may choose any.
    for one in try CaseLibrary(.broker).cases where !one.needs.contains(.alone) {
      for plan in CasePlan.plans(of: one, in: [.v3_1_1, .v5_0]) {
        for step in plan.steps {
          let names = Self.names(in: step)
          let strange = names.filter { !Self.isOwn($0, plan.values) }
          #expect(strange == [], "\(plan.name)")
        }
      }
    }
  }

  /// The names of topics and filters in a step, but for those that stand in rows.
  private static func names(in step: CaseStep) -> [String] {
    var names: [String] = []
    for field in step.fields {
      switch field.key {
      case "topic", "filter": names += [field.value.text].compactMap(\.self)
      case "filters":
        for element in field.value.elements ?? [] {
          names += [element.text ?? element["filter"]?.text].compactMap(\.self)
        }
      case "will": names += [field.value["topic"]?.text].compactMap(\.self)
      default: break
      }
    }
    return names
  }

  private static func isOwn(_ name: String, _ values: [JSONMember]) -> Bool {
    // A row's, as a whole: no filter that takes what others publish.
    if let value = values.first(where: { "{\($0.key)}" == name })?.value.text {
      return !value.hasPrefix("#") && !value.hasPrefix("+")
    }
    // What is no name at all, what only topics of the run match, the broker's own figures, and shares of filters that
    // are the run's own.
    return name.isEmpty || name.hasPrefix("{") || name.contains("/{tail}/")
      || name.hasPrefix("$SYS/")
      || name.hasPrefix("$share/")
        && name.split(separator: "/", maxSplits: 2).last?.hasPrefix("{t}") == true
  }
}
