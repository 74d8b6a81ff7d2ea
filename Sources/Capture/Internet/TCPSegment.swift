public import RepriseCore

/// The flags of a TCP header (RFC 9293 section 3.1).
public struct TCPFlags: OptionSet, Sendable, Hashable {
  /// The eight flags, as they stand in the header.
  public let rawValue: UInt8

  /// Creates flags from the byte in the header.
  ///
  /// - Parameter rawValue: The byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The sender has no more data.
  public static let fin = TCPFlags(rawValue: 0x01)
  /// The sequence number is the one before the first byte.
  public static let syn = TCPFlags(rawValue: 0x02)
  /// The connection is refused or given up.
  public static let reset = TCPFlags(rawValue: 0x04)
  /// The sender has nothing more to add just now.
  public static let push = TCPFlags(rawValue: 0x08)
  /// The acknowledgement number counts.
  public static let acknowledgment = TCPFlags(rawValue: 0x10)
}

/// One TCP segment, borrowed from the frame that completed it.
public struct TCPSegment: ~Escapable {
  /// The number of the frame; for a reassembled datagram, of the frame that completed it.
  public let frame: Int
  /// When that frame was captured; nil where the file does not say.
  public let time: Timestamp?
  /// The endpoint that sent it.
  public let source: Endpoint
  /// The endpoint that it was sent to.
  public let destination: Endpoint
  /// The sequence number.
  public let sequenceNumber: UInt32
  /// The acknowledgement number, if flag ``TCPFlags/acknowledgment`` is set.
  public let acknowledgmentNumber: UInt32
  /// The flags.
  public let flags: TCPFlags
  /// The window, as it stands in the header: not scaled.
  public let window: UInt16
  /// The part of the payload that was captured.
  public let payload: RawSpan
  /// The length of the payload on the wire; more than was captured if a snapshot length cut it.
  public let payloadWireLength: Int
  /// The number of the network that it was tunnelled through, such as VXLAN's; 0 where there is none.
  public let network: UInt32
  /// The length of the header, with its options, in bytes.
  public let headerLength: Int
  /// The clock of the sender, TSval (RFC 7323 section 3.2), where the option stands as nearly all put it: behind two NOP,
  /// and in a SYN anywhere.
  let timestampValue: UInt32?
  /// Whose bytes the other end did not get as they were sent, as a proxy says that wrote the segment; nil where none does.
  let alteration: (ofSender: Bool, ofReceiver: Bool)?

  /// Creates a segment.
  ///
  /// - Parameters:
  ///   - frame: The number of the frame.
  ///   - time: When the frame was captured.
  ///   - source: The endpoint that sent it.
  ///   - destination: The endpoint that it was sent to.
  ///   - sequenceNumber: The sequence number.
  ///   - acknowledgmentNumber: The acknowledgement number.
  ///   - flags: The flags.
  ///   - window: The window, not scaled.
  ///   - payload: The captured part of the payload.
  ///   - payloadWireLength: The length of the payload on the wire.
  ///   - network: The number of the network that it was tunnelled through; 0 where there is none.
  ///   - headerLength: The length of the header.
  @inline(__always)
  @_lifetime(copy payload)
  public init(
    frame: Int, time: Timestamp?, source: Endpoint, destination: Endpoint, sequenceNumber: UInt32,
    acknowledgmentNumber: UInt32, flags: TCPFlags, window: UInt16, payload: RawSpan,
    payloadWireLength: Int, network: UInt32 = 0, headerLength: Int = 20
  ) {
    self.init(
      frame: frame, time: time, source: source, destination: destination,
      sequenceNumber: sequenceNumber, acknowledgmentNumber: acknowledgmentNumber, flags: flags,
      window: window, payload: payload, payloadWireLength: payloadWireLength, network: network,
      headerLength: headerLength, timestampValue: nil)
  }

  @inline(__always)
  @_lifetime(copy payload)
  init(
    frame: Int, time: Timestamp?, source: Endpoint, destination: Endpoint, sequenceNumber: UInt32,
    acknowledgmentNumber: UInt32, flags: TCPFlags, window: UInt16, payload: RawSpan,
    payloadWireLength: Int, network: UInt32, headerLength: Int, timestampValue: UInt32?,
    alteration: (ofSender: Bool, ofReceiver: Bool)? = nil
  ) {
    self.alteration = alteration
    self.timestampValue = timestampValue
    self.headerLength = headerLength
    self.frame = frame
    self.time = time
    self.source = source
    self.destination = destination
    self.sequenceNumber = sequenceNumber
    self.acknowledgmentNumber = acknowledgmentNumber
    self.flags = flags
    self.window = window
    self.payload = payload
    self.payloadWireLength = payloadWireLength
    self.network = network
  }

}
