import CConformance
import RepriseCore

/// The cases that are part of the command.
package struct CaseLibrary: Sendable {
  /// The cases, by their names.
  package let cases: [DrivenCase]

  /// Reads the cases that are part of the command.
  /// - Parameter kind: What is driven by them.
  /// - Throws: ``DriverError`` when they were damaged when it was built.
  package init(_ kind: CaseKind) throws(DriverError) {
    let data =
      switch kind {
      case .broker: conformance_broker_cases()
      case .client: conformance_client_cases()
      case .webSocket: conformance_web_socket_cases()
      }
    let bytes = Array(UnsafeBufferPointer(start: data.bytes, count: data.count))
    cases = try Self.read(bytes, kind, "the cases of conform \(kind.rawValue)")
  }

  /// Reads cases.
  /// - Parameters:
  ///   - bytes: A case, or an array of cases, in JSON.
  ///   - kind: What is driven by them.
  ///   - file: Where they are from, for errors.
  /// - Returns: The cases.
  /// - Throws: ``DriverError`` that names the file and the place.
  package static func read(
    _ bytes: [UInt8], _ kind: CaseKind, _ file: String
  ) throws(DriverError) -> [DrivenCase] {
    let value: JSONValue
    do throws(JSONSyntaxError) { value = try JSONValue.read(bytes) } catch {
      let line = bytes.prefix(error.offset).count { $0 == UInt8(ascii: "\n") } + 1
      throw DriverError(.badCase, "\(file), line \(line): it is no JSON: \(error.message)")
    }
    var cases: [DrivenCase] = []
    for element in value.elements ?? [value] {
      cases.append(try DrivenCase(element, kind, in: file))
    }
    return cases
  }

  /// Returns the cases that a user asked for.
  /// - Parameters:
  ///   - names: Their names; none is all of the profile.
  ///   - profile: The profile.
  ///   - own: Cases of the user's, which are asked for.
  /// - Returns: The cases.
  /// - Throws: ``DriverError`` for a name that does not exist, with the nearest.
  package func select(
    _ names: [String], profile: DrivenCase.Profile, own: [DrivenCase] = []
  ) throws(DriverError) -> [DrivenCase] {
    let known = cases.map(\.name)
    for name in names where !known.contains(name) {
      let hint = NearestName.find(name, in: known).map { "; did you mean \($0)?" } ?? ""
      throw DriverError(
        .unknownCase, "no case is called \(name)\(hint); reprise conform list --cases shows them")
    }
    guard names.isEmpty, own.isEmpty else {
      return cases.filter { names.contains($0.name) } + own
    }
    return cases.filter { profile == .full || $0.profile == .quick }
  }
}
