import CConformance
import RepriseCore

/// The clauses of all standards that this suite knows.
public struct Catalogue: Sendable {
  /// The clauses, by standard and in the standard's order.
  public let clauses: [Clause]

  /// Creates a catalogue.
  /// - Parameter clauses: Its entries, each with an identifier that no other of its standard has.
  public init(_ clauses: [Clause]) { self.clauses = clauses }

  /// Reads the catalogue that is part of this library.
  /// - Throws: ``ConformanceError`` when it was damaged when the library was built.
  public static func bundled() throws(ConformanceError) -> Catalogue { try loaded.get() }

  /// Read once: who judges many inputs asks for it each time.
  private static let loaded = Result<Catalogue, ConformanceError> {
    () throws(ConformanceError) in
    Catalogue(
      try read(conformance_mqtt_3_1_1(), spec: "mqtt-3.1.1")
        + read(conformance_mqtt_5_0(), spec: "mqtt-5.0")
        + read(conformance_rfc6455(), spec: "rfc6455"))
  }

  /// The clause of a standard with an identifier, or nil.
  public subscript(spec: String, id: String) -> Clause? {
    clauses.first { $0.id == id && $0.spec == spec }
  }

  /// The standards that there are clauses of.
  public var specs: [String] {
    clauses.reduce(into: []) { if $0.last != $1.spec { $0.append($1.spec) } }
  }

  private static func read(
    _ data: conformance_data, spec: String
  ) throws(ConformanceError) -> [Clause] {
    let entries = try JSONValue.array(data, "the catalogue of \(spec)")
    var clauses: [Clause] = []
    for entry in entries { clauses.append(try Clause(entry, of: spec)) }
    return clauses
  }
}

extension JSONValue {
  /// Reads an array that is part of this library.
  /// - Parameters:
  ///   - data: Its text.
  ///   - name: What an error calls it.
  /// - Returns: Its elements.
  /// - Throws: ``ConformanceError`` when it is none.
  static func array(
    _ data: conformance_data, _ name: String
  ) throws(ConformanceError) -> [JSONValue] {
    let value: JSONValue
    do throws(JSONSyntaxError) {
      value = try JSONValue.read(Array(UnsafeBufferPointer(start: data.bytes, count: data.count)))
    } catch {
      throw ConformanceError(.badCatalogue, "\(name) can't be read: \(error)")
    }
    guard let elements = value.elements else {
      throw ConformanceError(.badCatalogue, "\(name) is no array")
    }
    return elements
  }
}
