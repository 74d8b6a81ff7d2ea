package import RepriseCore

/// Writes packets to a pcapng file, or to one after the other.
///
/// What was added is in the file after ``delay`` at the latest, whatever happens to the process.
package struct PcapngFiles {
  /// When a file is full, and what comes then.
  package struct Rotation {
    /// The most bytes of a file; nil without a limit.
    package var limit: Int?
    /// How long a file is written to; nil without a limit.
    package var interval: Duration?
    /// Begins another file; nil ends the recording.
    package var startNext: (() throws -> Void)?

    /// Creates a rotation without limits.
    package init() {}
  }

  /// What a file begins with.
  package struct Beginning {
    /// What writes the file, with its version.
    package var application: String
    /// What is said of the whole file.
    package var comments: [String]
    /// Says what the packets come through, and returns its number.
    package var addInterface: (inout PcapngWriter) -> UInt32

    /// Creates a beginning.
    package init(
      application: String, comments: [String],
      addInterface: @escaping (inout PcapngWriter) -> UInt32
    ) {
      self.application = application
      self.comments = comments
      self.addInterface = addInterface
    }
  }

  /// How long packets may wait for others to be written together with, in nanoseconds.
  private static let delay: Int64 = 100_000_000
  /// How many bytes may wait.
  private static let largestWrite = 1 << 18
  /// What is kept free in a file for what it ends with.
  private static let reserve = 128

  private var sink: any ByteSink
  private let beginning: Beginning
  private let rotation: Rotation
  private var writer: PcapngWriter
  private var interface: UInt32
  private var start: Timestamp
  private var now: Timestamp
  /// When the packet that has waited longest was added.
  private var waitingSince: Timestamp?
  private var fileSize = 0
  private var failure: (any Error)?
  /// How many packets are in the file that is written to.
  package private(set) var packets: UInt64 = 0
  /// Whether the last file has no room for more.
  package private(set) var isFull = false

  /// Begins a file.
  /// - Parameters:
  ///   - sink: Takes the file.
  ///   - beginning: What each file begins with.
  ///   - rotation: When a file is full.
  ///   - time: The time.
  /// - Throws: What the sink throws.
  package init(
    to sink: any ByteSink, _ beginning: Beginning, rotation: Rotation = Rotation(),
    at time: Timestamp
  ) throws {
    self.sink = sink
    self.beginning = beginning
    self.rotation = rotation
    (start, now) = (time, time)
    (writer, interface) = Self.begin(beginning)
    try flush()
  }

  private static func begin(_ beginning: Beginning) -> (PcapngWriter, UInt32) {
    var writer = PcapngWriter(application: beginning.application, comments: beginning.comments)
    let interface = beginning.addInterface(&writer)
    return (writer, interface)
  }

  private mutating func flush() throws {
    waitingSince = nil
    guard !writer.bytes.isEmpty else { return }
    let bytes = writer.bytes
    try sink.write(bytes.span.bytes)
    fileSize += bytes.count
    writer.removeAll()
  }

  // MARK: Packets

  /// Makes room for packets, in this file or in another one.
  /// - Parameters:
  ///   - count: How many bytes they take at most.
  ///   - time: The time.
  ///   - counts: What the interface had by now in this file; nil where that is what was added.
  /// - Returns: Whether there is room.
  package mutating func makeRoom(
    for count: Int, at time: Timestamp, _ counts: () -> InterfaceCounts?
  ) -> Bool {
    now = time
    guard failure == nil, !isFull else { return false }
    let isLate =
      rotation.interval.map { Duration.nanoseconds(time.nanoseconds(since: start)) >= $0 } ?? false
    let size = fileSize + writer.bytes.count + count + Self.reserve
    guard isLate || rotation.limit.map({ size > $0 }) ?? false else { return true }
    guard let startNext = rotation.startNext else {
      isFull = true
      return false
    }
    // A file that has no packet yet would not have more room as the next one.
    guard packets > 0 else { return true }
    do {
      try end(time, counts())
      try startNext()
      (writer, interface) = Self.begin(beginning)
      (start, fileSize, packets) = (time, 0, 0)
    } catch {
      failure = error
      return false
    }
    return true
  }

  /// Adds a packet that there is room for.
  /// - Parameters:
  ///   - time: When it was seen.
  ///   - comments: What is said of it.
  ///   - header: Its first bytes.
  ///   - payload: Its other bytes.
  ///   - wireLength: How many bytes it had on the wire; nil where that is all of these.
  package mutating func add(
    at time: Timestamp, comments: [String] = [], _ header: RawSpan, _ payload: RawSpan,
    wireLength: Int? = nil
  ) {
    writer.addPacket(
      on: interface, at: time, comments: comments, header, payload, wireLength: wireLength)
    packets &+= 1
    if waitingSince == nil { waitingSince = now }
  }

  /// Writes what has waited long enough, or is much.
  /// - Parameter time: The time.
  /// - Returns: When to ask again; nil when nothing waits.
  /// - Throws: Why packets could not be written.
  package mutating func settle(_ time: Timestamp) throws -> Timestamp? {
    if let failure { throw failure }
    guard let waitingSince else { return nil }
    let isDue = time.nanoseconds(since: waitingSince) >= Self.delay
    if isDue || writer.bytes.count >= Self.largestWrite {
      try flush()
      return nil
    }
    return Timestamp(nanoseconds: waitingSince.nanoseconds &+ Self.delay)
  }

  /// Ends the last file.
  /// - Parameters:
  ///   - time: The time.
  ///   - counts: What the interface had in this file; nil where that is what was added.
  /// - Throws: Why packets could not be written.
  package mutating func finish(_ time: Timestamp, _ counts: InterfaceCounts? = nil) throws {
    if let failure { throw failure }
    try end(time, counts)
  }

  private mutating func end(_ time: Timestamp, _ counts: InterfaceCounts?) throws {
    writer.addStatistics(
      of: interface, from: start, to: time, counts ?? InterfaceCounts(received: packets))
    try flush()
  }
}
