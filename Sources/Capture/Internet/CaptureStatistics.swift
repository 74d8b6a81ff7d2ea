/// What a frame carries that can't be read.
public enum LeftContent: Int, Sendable, Hashable, CaseIterable {
  /// A frame of a wireless network that is encrypted.
  case encryptedWireless
  /// A fragment of a frame of a wireless network.
  case fragmentedWireless
  /// Several packets in one frame of a wireless network (A-MSDU).
  case aggregatedWireless
  /// A frame of a wireless network that was damaged on the air.
  case badWireless
  /// Behind MPLS labels something that begins neither as IP nor as an Ethernet frame with IP does.
  case labelled

  /// What it is, in the plural.
  var name: String {
    switch self {
    case .encryptedWireless: "encrypted frames of a wireless network"
    case .fragmentedWireless: "fragments of wireless frames"
    case .aggregatedWireless: "wireless frames of several packets (A-MSDU)"
    case .badWireless: "wireless frames that were damaged on the air"
    case .labelled: "packets behind MPLS labels that are not IP"
    }
  }
}

/// What became of the frames of a capture; what could not be used is counted, never just dropped.
public struct CaptureStatistics: Sendable, Equatable {
  /// Frames of a link type that is not understood.
  public struct UnsupportedLinkType: Sendable, Equatable {
    /// The link type.
    public let linkType: LinkType
    /// The number of the first such frame.
    public let firstFrame: Int
    /// How many such frames there are.
    public internal(set) var frames: Int
  }

  /// All frames.
  public internal(set) var frames = 0
  /// The bytes of all frames that were captured.
  public internal(set) var capturedBytes = 0
  /// The bytes of all frames that were on the wire.
  public internal(set) var wireBytes = 0
  /// Frames that a snapshot length cut.
  public internal(set) var cutFrames = 0
  /// Frames that carry no IP packet.
  public internal(set) var nonIPFrames = 0
  /// IP packets that carry neither TCP nor a tunnel.
  public internal(set) var nonTCPPackets = 0
  /// TCP segments found.
  public internal(set) var segments = 0
  /// Frames whose captured bytes end inside a header.
  public internal(set) var cutHeaders = 0
  /// Headers that contradict themselves.
  public internal(set) var malformedHeaders = 0
  /// The number of the first frame with a cut or malformed header.
  public internal(set) var firstUnreadableFrame: Int?
  /// Fragments of IP datagrams.
  public internal(set) var fragments = 0
  /// Fragments that brought nothing new.
  public internal(set) var duplicateFragments = 0
  /// Fragments that contradict others of their datagram.
  public internal(set) var malformedFragments = 0
  /// Datagrams put together from fragments.
  public internal(set) var reassembledDatagrams = 0
  /// Datagrams given up because too many were waited for, or for too long.
  public internal(set) var evictedDatagrams = 0
  /// Datagrams that still miss a fragment.
  public internal(set) var pendingDatagrams = 0
  /// Frames of link types that are not understood.
  public internal(set) var unsupportedFrames = 0
  /// Link types that are not understood, in order of first sight; at most 64 are listed.
  public internal(set) var unsupportedLinkTypes: [UnsupportedLinkType] = []

  /// Frames left out because of what they carry.
  public internal(set) var left: [LeftContent: Int] = [:]

  /// Creates statistics of no frames.
  public init() {}

  /// Counts a frame of a link type that is not understood.
  mutating func countUnsupported(_ linkType: LinkType, frame: Int) {
    unsupportedFrames += 1
    if let index = unsupportedLinkTypes.firstIndex(where: { $0.linkType == linkType }) {
      unsupportedLinkTypes[index].frames += 1
    } else if unsupportedLinkTypes.count < 64 {
      unsupportedLinkTypes.append(
        UnsupportedLinkType(linkType: linkType, firstFrame: frame, frames: 1))
    }
  }
}
