package import RepriseCore

/// Something that an end of a recorded connection does: it says something, or ends the connection.
package struct ScriptStep: Sendable {
  /// What is done.
  package enum Content: Sendable {
    /// Something is said.
    case said(ReplayUnit)
    /// The connection is ended.
    case end(ConnectionClosing.How)
  }

  /// Where it stands in the session.
  package let place: ReplayPlace
  /// Its number among all steps of the session, in their order.
  package let order: Int
  /// The end that does it.
  package let sender: Peer
  /// What is done.
  package internal(set) var content: Content
  /// The time that it is replayed by: that of the session, unless the beginning of the connection is hurried through.
  package internal(set) var time: Timestamp

  /// What is said; nil where nothing is.
  package var unit: ReplayUnit? {
    switch content {
    case .said(let unit): unit
    case .end: nil
    }
  }

  /// The packet; nil where none is sent.
  package var packet: ReplayPacket? { unit?.packet }

  /// What is done, in a line for people, with secrets hidden.
  package var summary: String {
    switch content {
    case .said(let unit): unit.summary
    case .end(.reset): "the \(sender.rawValue) breaks the connection off"
    case .end: "the \(sender.rawValue) ends the connection"
    }
  }
}
