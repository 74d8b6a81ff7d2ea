internal import Wire

/// The identifiers that the standards give to what a rule judges, version by version.
///
/// A version without one does not ask for it; that of 3.1 has no identifiers at all.
struct ClauseIDs: Sendable {
  var v3_1_1: String?
  var v5_0: String?

  subscript(version: MQTTVersion) -> String? {
    switch version {
    case .v3_1: nil
    case .v3_1_1: v3_1_1
    case .v5_0: v5_0
    }
  }

  /// Whether a version has the identifier.
  func contains(_ id: String) -> Bool { MQTTVersion.allCases.contains { self[$0] == id } }
}
