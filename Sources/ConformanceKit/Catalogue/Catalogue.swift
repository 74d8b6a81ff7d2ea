import CConformance

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The clauses of all standards that this suite knows.
public struct Catalogue: Sendable {
  /// The clauses, by standard and in the standard's order.
  public let clauses: [Clause]
  private let indices: [String: Int]

  /// Creates a catalogue.
  /// - Parameter clauses: Its entries, each with an identifier of its own.
  public init(_ clauses: [Clause]) {
    self.clauses = clauses
    indices = Dictionary(
      clauses.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Reads the catalogue that is part of this library.
  /// - Throws: ``ConformanceError`` when it was damaged when the library was built.
  public static func bundled() throws(ConformanceError) -> Catalogue {
    Catalogue(
      try read(conformance_mqtt_3_1_1(), spec: "mqtt-3.1.1")
        + read(conformance_rfc6455(), spec: "rfc6455"))
  }

  /// The clause with an identifier, or nil.
  public subscript(id: String) -> Clause? { indices[id].map { clauses[$0] } }

  /// The standards that there are clauses of.
  public var specs: [String] {
    clauses.reduce(into: []) { if $0.last != $1.spec { $0.append($1.spec) } }
  }

  private static func read(
    _ data: conformance_data, spec: String
  ) throws(ConformanceError) -> [Clause] {
    let bytes = Data(UnsafeBufferPointer(start: data.bytes, count: data.count))
    do {
      return try JSONDecoder().decode([Clause].self, from: bytes).map {
        var clause = $0
        clause.spec = spec
        return clause
      }
    } catch {
      throw ConformanceError(.badCatalogue, "the catalogue of \(spec) can't be read: \(error)")
    }
  }
}
