import RepriseCore

/// Tells which frames of a capture are written when it is converted.
final class FrameChooser {
  private let plan: CaptureConversion.Plan
  private var filter: PacketFilter?
  private var dissector = FrameDissector()

  init(_ plan: CaptureConversion.Plan, _ filter: consuming PacketFilter?) {
    self.plan = plan
    self.filter = filter
  }

  /// Tells whether a moment is wanted.
  func isWanted(_ time: Timestamp?) -> Bool { plan.isWanted?(time) ?? true }

  /// Tells whether a connection is wanted.
  func isWanted(_ opening: FlowOpening) -> Bool {
    guard plan.choosesConnections, let connections = plan.survey?.connections else { return true }
    return connections.contains(
      opening.first, opening.second, in: opening.arrival.frame)
  }

  /// Tells what becomes of a frame.
  /// - Throws: ``CaptureError`` where a filter can't be asked about it.
  func choose(_ frame: borrowing Frame) throws(CaptureError) -> CaptureCopier.Choice {
    if filter != nil, try filter?.matches(frame) == false { return .leftOut }
    guard isWanted(frame.time) else { return .leftOut }
    guard plan.choosesConnections || plan.isPlain, let survey = plan.survey else { return .copied }
    var isWanted = !plan.choosesConnections
    dissector.openFragment = nil
    dissector.dissect(frame) { segment in
      if plan.isPlain, survey.decrypted.contains(segment) {
        isWanted = false
      } else if plan.choosesConnections {
        isWanted = survey.connections.contains(segment)
      }
    }
    // A fragment has no ports by itself.
    if let hosts = dissector.openFragment, plan.choosesConnections {
      isWanted = survey.connections.contains(hosts.source, hosts.destination)
    }
    return isWanted ? .copied : .leftOut
  }
}
