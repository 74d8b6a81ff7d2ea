package import RepriseCore

/// Why whole connections of a file may be missing, each of which may be that of a client whose other connections are
/// judged.
///
/// What rests on a client's connection being the next one behind another, or on nobody else having published a message, is
/// undecided then.
package enum MissingConnections: Sendable, Equatable {
  /// A selection left them out.
  case leftOut
  /// Frames were lost while the file was captured, as it says itself.
  case dropped
  /// Connections between the hosts of clients and servers can't be read, each of which may have begun to speak at such a
  /// time.
  case unread(begun: [ClosedRange<Timestamp>])
  /// The file is damaged, or was cut: what came behind is missing, and nothing before is judged by it.
  case behindTheEnd
}

extension ConformanceJudge {
  /// Takes the news that whole connections of the file may be missing, at any time before ``endFile()``.
  package mutating func note(_ missing: MissingConnections) {
    switch missing {
    case .leftOut: doubtConnections(.publishersLeftOut)
    case .dropped: doubtConnections(.framesDropped)
    case .unread(let begun):
      for time in begun { tally.held.noteUnseen(from: time.lowerBound, to: time.upperBound) }
    case .behindTheEnd: break
    }
  }
}
