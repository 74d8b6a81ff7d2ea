import RepriseCore

/// The bytes in GAPs, by what they are missing from.
struct GapTotals {
  /// Those that the capture lacks.
  private(set) var missing = 0
  /// Those that may be in it, but that are more than is kept of what is unfinished.
  private(set) var givenUp = 0
  /// When the capture was found to lack bytes, up to a number of times.
  private var times: [Timestamp] = []
  private static let mostTimes = 4_096

  /// Whether the capture lacks bytes from a time on, for so many nanoseconds; also where nobody knows any more.
  func hasAny(from time: Timestamp, for length: Int64) -> Bool {
    times.count >= Self.mostTimes
      || times.contains {
        $0 >= time && $0.nanoseconds < time.nanoseconds.addingReportingOverflow(length).partialValue
      }
  }

  /// Counts a GAP, up to the largest number: a header may claim more bytes than there ever were.
  mutating func add(_ gap: Gap, at time: Timestamp) {
    switch gap.reason {
    case .limit: givenUp = givenUp.addingUpToMost(gap.bytes)
    case .foreign, .altered: break
    case .acknowledged, .snaplen, .unfilled, .encrypted, .leftOut:
      missing = missing.addingUpToMost(gap.bytes)
      if times.count < Self.mostTimes { times.append(time) }
    }
  }
}

extension Int {
  fileprivate func addingUpToMost(_ more: Int) -> Int {
    let (sum, isTooMuch) = addingReportingOverflow(more)
    return isTooMuch ? .max : sum
  }
}

/// What a capture lost or what was left out of it, in sentences.
enum CaptureNotes {
  static func all(
    cut: CaptureError?, _ frames: CaptureStatistics, _ segments: TCPStatistics,
    connections: Int, gaps: GapTotals, left: [String], secretsDropped: Int, framesDropped: Int,
    surrenders: Int, messagesKept: Int
  ) -> [String] {
    var notes: [String] = []
    if let cut { notes.append("read up to the damage only: \(cut)") }
    for unsupported in frames.unsupportedLinkTypes {
      notes.append(
        "\(unsupported.frames) frames left out: \(unsupported.linkType) is not known "
          + "(first in frame \(unsupported.firstFrame))")
    }
    for content in LeftContent.allCases {
      guard let count = frames.left[content] else { continue }
      notes.append("\(count) frames left out: \(content.name) can't be read")
    }
    func note(_ count: Int, _ text: String) {
      if count > 0 { notes.append("\(count) \(text)") }
    }
    note(frames.cutFrames, "frames are cut by the capture's snapshot length; take it with -s 0")
    note(frames.malformedHeaders, "packets have headers that make no sense")
    note(frames.cutHeaders, "packets are cut inside their headers")
    note(frames.evictedDatagrams, "fragmented packets were never complete")
    note(frames.pendingDatagrams, "fragmented packets lack fragments at the end")
    note(
      framesDropped,
      "frames were lost while it was captured, as the capture says: whole connections may be among "
        + "them, and what that would explain stays open")
    note(gaps.missing, "bytes of TCP streams are missing from the capture, see GAP")
    note(gaps.givenUp, "bytes of TCP streams are more than is kept and were given up, see GAP")
    note(segments.strayedSegments, "segments lie far outside their connection and are left out")
    note(
      segments.disbelievedEnds,
      "FINs or resets lie outside their receiver's window and end no connection")
    note(
      segments.leaps,
      "acknowledgements claim far more than was captured, and nothing else does: that is told as no "
        + "loss, but what may depend on it stays open")
    note(
      segments.evictedFlows,
      "idle connections were given up: more are open at once than --memory allows, or 65,536")
    note(secretsDropped, "blocks of decryption secrets are more than are kept")
    note(
      surrenders,
      "times a connection gave up what was unfinished: all of it together is more than --memory "
        + "allows")
    note(
      messagesKept,
      "compressed messages of WebSocket are not inflated: together they become more than 100 times "
        + "as large, and 32 MiB besides")
    notes += left
    if connections == 0 {
      var text = "no MQTT or WebSocket was found in \(frames.frames) frames"
      // What is known to be something else is not to be taken for MQTT.
      if left.isEmpty {
        text += "; --decode PORT=mqtt, PORT=websocket or PORT=http takes a port's traffic for it"
      }
      notes.append(text)
    }
    return notes
  }
}
