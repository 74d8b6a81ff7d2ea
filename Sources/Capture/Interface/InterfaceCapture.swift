#if canImport(CPcap)
  import CPcap
  import RepriseCore

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A network interface of this computer, whose frames libpcap captures.
  ///
  /// It is used by one thread. Nothing blocks: who wants to wait does so by `poll` on ``descriptor``.
  package final class InterfaceCapture {
    /// What is captured, and how.
    package struct Options: Sendable {
      /// A filter in libpcap's language; nil captures everything.
      package var filter: String?
      /// The most bytes of a frame that are captured.
      package var snapLength = longestSnap
      /// Whether frames are captured that are for others, too.
      package var isPromiscuous = false
      /// How many bytes the system keeps for frames that nobody has taken yet.
      package var bufferSize = usualBuffer

      /// The most bytes that libpcap captures of a frame.
      package static let longestSnap = 262_144
      /// Enough for a tenth of a second at some gigabits.
      package static let usualBuffer = 16 << 20

      /// Creates options with which all frames are captured that come here anyway.
      package init() {}
    }

    /// How long the system gathers frames before it hands them on, in milliseconds; as late comes each at most.
    ///
    /// To hand on each at once ("immediate mode") takes buffers of another kind, which have room for few frames.
    package static let latency: Int32 = 50

    /// What it is called.
    package let name: String
    /// What its frames begin with.
    package let linkType: LinkType
    /// The most bytes of a frame that are captured.
    package let snapLength: Int
    /// Tells by `poll` that frames may be there; nil where the system has nothing that does.
    package let descriptor: Int32?
    /// How many frames were read.
    package private(set) var framesRead = 0

    /// The system's number of the interface; 0 for what is none, such as `any`.
    private let index: UInt32
    private let pcap: cpcap_functions
    private let handle: OpaquePointer
    private let countsNanoseconds: Bool
    /// The system's numbers, which have 32 bits and begin again, the last time that they were asked for.
    private var lastNumbers = pcap_stat()
    private var total = InterfaceCounts(received: 0, droppedByInterface: 0, droppedBySystem: 0)

    /// Begins to capture.
    /// - Parameters:
    ///   - name: The interface, or `any`.
    ///   - options: What is captured.
    /// - Throws: ``CaptureError``, which names the interface, with
    ///   ``CaptureError/Code/permissionDenied`` where only the right to it is missing.
    package init(_ name: String, _ options: Options = Options()) throws(CaptureError) {
      guard let library = cpcap_load() else {
        throw CaptureError(
          .captureFailed, "an interface is captured by libpcap, which is not there",
          remedy: "install it (on Debian: libpcap0.8)"
        ).inFile(name)
      }
      let pcap = library.pointee
      let handle = try Self.open(name, options, pcap)
      do throws(CaptureError) {
        try Self.activate(handle, name, pcap)
        if let filter = options.filter { try Self.set(filter, handle, pcap) }
        var text = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
        guard pcap.setnonblock(handle, 1, &text) == 0 else {
          throw CaptureError(.captureFailed, "it can't be captured: \(Self.text(text))")
        }
      } catch {
        pcap.close(handle)
        throw error.inFile(name)
      }
      self.name = name
      index = if_nametoindex(name)
      self.pcap = pcap
      self.handle = handle
      // In files raw IP has another number than in the system's headers.
      let type = pcap.datalink(handle)
      linkType = type == DLT_RAW ? .raw : LinkType(rawValue: UInt16(truncatingIfNeeded: type))
      snapLength = Int(pcap.snapshot(handle))
      countsNanoseconds = pcap.get_tstamp_precision(handle) == PCAP_TSTAMP_PRECISION_NANO
      let number = pcap.get_selectable_fd(handle)
      descriptor = number >= 0 ? number : nil
    }

    deinit { pcap.close(handle) }

    // MARK: Opening

    private static func open(
      _ name: String, _ options: Options, _ pcap: cpcap_functions
    ) throws(CaptureError) -> OpaquePointer {
      var text = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
      guard let handle = pcap.create(name, &text) else {
        throw CaptureError(.captureFailed, "it can't be captured: \(Self.text(text))").inFile(name)
      }
      // These fail only for a handle that is active.
      _ = pcap.set_snaplen(handle, Int32(clamping: options.snapLength))
      _ = pcap.set_promisc(handle, options.isPromiscuous ? 1 : 0)
      _ = pcap.set_timeout(handle, latency)
      _ = pcap.set_buffer_size(handle, Int32(clamping: options.bufferSize))
      // Where there are no nanoseconds, it stays with microseconds.
      _ = pcap.set_tstamp_precision(handle, PCAP_TSTAMP_PRECISION_NANO)
      return handle
    }

    private static func activate(
      _ handle: OpaquePointer, _ name: String, _ pcap: cpcap_functions
    ) throws(CaptureError) {
      let status = pcap.activate(handle)
      // What is more than 0 is a warning.
      guard status < 0 else { return }
      switch status {
      case PCAP_ERROR_NO_SUCH_DEVICE:
        let names = names.joined(separator: ", ")
        throw CaptureError(
          .notFound, "there is no such interface",
          remedy: names.isEmpty ? nil : "type one of these: \(names)")
      case PCAP_ERROR_PERM_DENIED, PCAP_ERROR_PROMISC_PERM_DENIED:
        throw CaptureError(.permissionDenied, "this user may not capture")
      case PCAP_ERROR_IFACE_NOT_UP:
        throw CaptureError(
          .captureFailed, "the interface is down", remedy: "bring it up: ip link set \(name) up")
      default:
        let reason =
          status == PCAP_ERROR
          ? pcap.geterr(handle) : UnsafeMutablePointer(mutating: pcap.statustostr(status))
        throw CaptureError(
          .captureFailed,
          "it can't be captured: \(reason.map { String(cString: $0) } ?? "unknown reason")")
      }
    }

    private static func set(
      _ filter: String, _ handle: OpaquePointer, _ pcap: cpcap_functions
    ) throws(CaptureError) {
      var program = bpf_program()
      let unknownMask: UInt32 = 0xffff_ffff
      let isCompiled = pcap.compile(handle, &program, filter, 1, unknownMask) == 0
      defer { if isCompiled { pcap.freecode(&program) } }
      guard isCompiled, pcap.setfilter(handle, &program) == 0 else {
        let reason = pcap.geterr(handle).map { String(cString: $0) } ?? "unknown reason"
        throw CaptureError(
          .invalidFilter, "libpcap refuses the filter: \(reason)", remedy: "see man pcap-filter")
      }
    }

    /// The interfaces that can be captured: those that are up, and `any`.
    package static var names: [String] {
      guard let pcap = cpcap_load()?.pointee else { return [] }
      var first: UnsafeMutablePointer<pcap_if_t>?
      var text = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
      guard pcap.findalldevs(&first, &text) == 0 else { return [] }
      defer { pcap.freealldevs(first) }
      var names: [String] = []
      var next = first
      while let device = next?.pointee {
        if let name = device.name, device.flags & UInt32(PCAP_IF_UP) != 0 {
          names.append(String(cString: name))
        }
        next = device.next
      }
      return names
    }

    private static func text(_ buffer: [CChar]) -> String {
      String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    // MARK: Reading

    /// Takes the frames that are there.
    /// - Parameters:
    ///   - most: The most frames that are taken, at least 1.
    ///   - take: Takes a frame, which is valid during the call only.
    /// - Returns: How many frames there were.
    /// - Throws: ``CaptureError`` when no more will come: the interface is gone, or down.
    package func read(
      _ most: Int, _ take: (borrowing Frame) -> Void
    ) throws(CaptureError) -> Int {
      let before = framesRead
      let result = withoutActuallyEscaping(take) { take in
        var delivery = Delivery(self, take)
        return withUnsafeMutablePointer(to: &delivery) { delivery in
          pcap.dispatch(
            handle, Int32(clamping: max(1, most)), Delivery.callback,
            UnsafeMutableRawPointer(delivery).assumingMemoryBound(to: u_char.self))
        }
      }
      guard result < 0 else { return framesRead - before }
      throw isOver(pcap.geterr(handle).map { String(cString: $0) } ?? "unknown reason")
    }

    /// Checks that the interface is still there; to be asked now and then.
    ///
    /// The system tells once that an interface goes down. Where it is taken away, it may be there for another moment then,
    /// and nothing more is told.
    /// - Throws: ``CaptureError`` when it is gone.
    package func check() throws(CaptureError) {
      // By its number, as a name may be changed meanwhile.
      var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
      guard index != 0, if_indextoname(index, &name) == nil else { return }
      throw isOver("The interface disappeared")
    }

    private func isOver(_ reason: String) -> CaptureError {
      CaptureError(
        .captureFailed, "no more can be captured: \(reason)",
        remedy: "look at it by ip link, and begin again"
      ).inFile(name)
    }

    /// What libpcap hands frames to, for one call of it.
    private struct Delivery {
      let capture: InterfaceCapture
      let take: (borrowing Frame) -> Void

      init(_ capture: InterfaceCapture, _ take: @escaping (borrowing Frame) -> Void) {
        self.capture = capture
        self.take = take
      }

      static let callback: pcap_handler = { user, header, bytes in
        guard let user, let header, let bytes else { return }
        let delivery = UnsafeMutableRawPointer(user).assumingMemoryBound(to: Delivery.self)
        let captured = UnsafeRawBufferPointer(start: bytes, count: Int(header.pointee.caplen))
        delivery.pointee.capture.deliver(header.pointee, captured.bytes, delivery.pointee.take)
      }
    }

    private func deliver(
      _ header: pcap_pkthdr, _ bytes: RawSpan, _ take: (borrowing Frame) -> Void
    ) {
      framesRead &+= 1
      let fraction = Int64(header.ts.tv_usec) &* (countsNanoseconds ? 1 : 1_000)
      let time = Int64(header.ts.tv_sec) &* 1_000_000_000 &+ fraction
      take(
        Frame(
          number: framesRead, time: Timestamp(nanoseconds: time), linkType: linkType, bytes: bytes,
          wireLength: Int(header.len)))
    }

    // MARK: Numbers

    /// What became of the frames so far; to be asked for now and then, because the system's numbers are small.
    package func counts() -> InterfaceCounts {
      var numbers = pcap_stat()
      guard pcap.stats(handle, &numbers) == 0 else { return total }
      total.received &+= UInt64(numbers.ps_recv &- lastNumbers.ps_recv)
      total.droppedByInterface? &+= UInt64(numbers.ps_ifdrop &- lastNumbers.ps_ifdrop)
      total.droppedBySystem? &+= UInt64(numbers.ps_drop &- lastNumbers.ps_drop)
      lastNumbers = numbers
      return total
    }
  }
#endif
