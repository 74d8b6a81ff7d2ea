#if canImport(CPcap)
  import CPcap
#endif

/// A filter expression in libpcap's language, compiled once for every link type it meets.
public struct PacketFilter: ~Copyable {
  /// The expression.
  public let expression: String

  private var programs: [LinkType: FilterProgram] = [:]
  private var current: FilterProgram?
  private var currentLinkType = LinkType.null

  /// Compiles an expression.
  ///
  /// - Parameter expression: The expression, as for tcpdump.
  /// - Throws: `CaptureError` with libpcap's words if no usual link type takes it.
  public init(_ expression: String) throws(CaptureError) {
    self.expression = expression
    // Some expressions are meant for one kind of link: one that takes it is enough to begin with.
    let usual: [LinkType] = [.ethernet, .raw, .linuxSLL, .null, .ppp]
    var refusal: CaptureError?
    for linkType in usual {
      do throws(CaptureError) {
        programs[linkType] = try FilterProgram(expression, linkType)
        return
      } catch { refusal = refusal ?? error }
    }
    if let refusal { throw refusal }
  }

  /// Returns whether a frame satisfies the expression.
  ///
  /// - Parameter frame: The frame.
  /// - Returns: Whether it is to be kept.
  /// - Throws: `CaptureError` if the expression makes no sense for the frame's link type.
  public mutating func matches(_ frame: borrowing Frame) throws(CaptureError) -> Bool {
    // libpcap knows the address families of loopback only as the host has them, and only in one
    // byte order; behind the family, the packet is raw IP in every file.
    if frame.linkType == .null || frame.linkType == .loop,
      case .ip(let offset) = LinkLayer.content(of: frame.bytes, frame.linkType)
    {
      return try matches(
        frame.bytes.clamped(offset, frame.bytes.byteCount), frame.wireLength, .raw, frame.number)
    }
    return try matches(frame.bytes, frame.wireLength, frame.linkType, frame.number)
  }

  private mutating func matches(
    _ bytes: RawSpan, _ wireLength: Int, _ linkType: LinkType, _ frame: Int
  ) throws(CaptureError) -> Bool {
    if let current, currentLinkType == linkType { return current.matches(bytes, wireLength) }
    let program: FilterProgram
    if let known = programs[linkType] {
      program = known
    } else {
      do throws(CaptureError) {
        program = try FilterProgram(expression, linkType)
      } catch { throw error.inFrame(frame) }
      programs[linkType] = program
    }
    current = program
    currentLinkType = linkType
    return program.matches(bytes, wireLength)
  }
}

#if canImport(CPcap)
  /// The one owner of a program compiled by libpcap.
  private final class FilterProgram {
    private let library: UnsafePointer<cpcap_functions>
    private var program = bpf_program()

    init(_ expression: String, _ linkType: LinkType) throws(CaptureError) {
      guard let library = cpcap_load() else {
        throw CaptureError(
          .invalidFilter, "a filter is compiled by libpcap, which is not there",
          remedy: "install it (on Debian: libpcap0.8)")
      }
      self.library = library
      let pcap = library.pointee
      // In files raw IP is 101; in memory libpcap calls it what the system's headers do.
      let inMemory = linkType == .raw ? DLT_RAW : Int32(linkType.rawValue)
      guard let handle = pcap.open_dead(inMemory, Int32(CaptureReader.maximumFrameLength)) else {
        throw CaptureError(.invalidFilter, "libpcap cannot compile for \(linkType)")
      }
      defer { pcap.close(handle) }
      let unknownMask: UInt32 = 0xffff_ffff
      guard pcap.compile(handle, &program, expression, 1, unknownMask) == 0 else {
        let reason = pcap.geterr(handle).map { String(cString: $0) } ?? "unknown reason"
        throw CaptureError(
          .invalidFilter, "libpcap refuses the filter for \(linkType): \(reason)",
          remedy: "see man pcap-filter")
      }
    }

    deinit { library.pointee.freecode(&program) }

    func matches(_ bytes: RawSpan, _ wireLength: Int) -> Bool {
      bytes.withUnsafeBytes { buffer in
        var header = pcap_pkthdr()
        header.caplen = UInt32(clamping: buffer.count)
        header.len = UInt32(clamping: wireLength)
        let start = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return library.pointee.offline_filter(&program, &header, start) != 0
      }
    }
  }
#else
  /// What stands for a program where there is no libpcap to compile it.
  private final class FilterProgram {
    init(_ expression: String, _ linkType: LinkType) throws(CaptureError) {
      throw CaptureError(
        .invalidFilter, "a filter is compiled by libpcap, which this platform does not have",
        remedy: "filter the capture where there is one, or the events by SessionFilter")
    }

    func matches(_ bytes: RawSpan, _ wireLength: Int) -> Bool { false }
  }
#endif
