package import RepriseCore
package import Wire

/// A case with one row of its values, in one version: what is run, and makes one recording.
package struct CasePlan: Sendable {
  /// The case.
  package let driven: DrivenCase
  /// The version of MQTT that is spoken; nil where there is none.
  package let version: MQTTVersion?
  /// The number of the row, from 1; nil where the case has but one.
  package let row: Int?
  /// The values of the row.
  package let values: [JSONMember]
  /// The steps that are done in this version.
  package let steps: [CaseStep]

  /// How what is sent is cut into segments, and the number of this repetition; nil where it is sent as it is.
  package var cut: (number: Int, chopping: Chopping)?

  /// The same, with what is sent cut into segments.
  /// - Parameter number: The number of the repetition, from 1.
  /// - Returns: The plan of the repetition.
  package func cut(_ number: Int) -> CasePlan {
    var plan = self
    plan.cut = (number, Chopping(number: number))
    return plan
  }

  /// The version, where a step names it.
  func versionValue(_ name: Substring) -> JSONValue? {
    name == "version" ? version.map { .string($0.number) } : nil
  }

  /// The value that a step names: one of its row, which may name others itself, or another one.
  /// - Parameters:
  ///   - name: The name.
  ///   - find: The value of a name that is none of the row's.
  /// - Returns: The value; nil where there is none of that name.
  func value(of name: Substring, orElse find: (Substring) -> JSONValue?) -> JSONValue? {
    guard let value = values.first(where: { $0.key == name })?.value else { return find(name) }
    return CaseTemplate.fill(value, find)
  }

  /// The standard that is spoken, as catalogues name it.
  package var standard: String { version?.standard ?? "rfc6455" }

  /// The identifiers of the clauses that it is meant to exercise.
  package var clauses: [String] { driven.clauses(of: standard) }

  /// The same in another version.
  func spoken(in version: MQTTVersion) -> CasePlan {
    var plan = CasePlan(
      driven: driven, version: version, row: row, values: values,
      steps: driven.steps.filter { $0.version == nil || $0.version == version })
    plan.cut = cut
    return plan
  }

  /// What it is called where nothing is cut.
  package var wholeName: String {
    let version = version.map { $0 == .v5_0 ? ".v5" : ".v311" } ?? ""
    return driven.name + version + (row.map { ".\($0)" } ?? "")
  }

  /// What it is called, which is the name of its recording as well.
  package var name: String {
    wholeName + (cut.map { ".cut\($0.number)" } ?? "")
  }

  /// The level of topics that is its own: brokers that turn dots into slashes are found by a case, not by each of them.
  var topicLevel: String { String(name.map { $0 == "." ? "-" : $0 }) }

  /// The values of the row, for people; nothing where there are none.
  package var shownValues: String {
    (values.map { "\($0.key) \($0.value.text ?? $0.value.description)" }
      + [cut?.chopping.description].compactMap(\.self)).joined(separator: ", ")
  }

  /// Makes the plans of a case.
  /// - Parameters:
  ///   - driven: The case.
  ///   - versions: The versions that are asked for.
  /// - Returns: One plan for each of its versions and rows.
  package static func plans(of driven: DrivenCase, in versions: Set<MQTTVersion>) -> [CasePlan] {
    let spoken: [MQTTVersion?] = driven.versions.filter(versions.contains)
    return (driven.kind.speaksMQTT ? spoken : [nil]).flatMap { version in
      driven.rows.enumerated().map { index, values in
        CasePlan(
          driven: driven, version: version, row: driven.rows.count > 1 ? index + 1 : nil,
          values: values, steps: driven.steps.filter { $0.version == nil || $0.version == version })
      }
    }
  }
}
