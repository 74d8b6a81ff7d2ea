import Capture
import RepriseCore
import Testing

@Suite struct PcapngReaderTests {
  private func build(_ make: (inout PcapngBuilder) -> Void) -> [UInt8] {
    var builder = PcapngBuilder()
    make(&builder)
    return builder.bytes
  }

  @Test(arguments: [false, true])
  func readsEveryKindOfPacketBlock(isBigEndian: Bool) throws {
    let reading = try Reading(
      build {
        $0.section(isBigEndian: isBigEndian)
        $0.interface(snapshotLength: 2)
        $0.interface(linkType: 101)
        $0.enhancedPacket(interface: 1, ticks: 0x1_0000_0001, [1, 2, 3], wire: 9)
        $0.obsoletePacket(interface: 1, ticks: 5, [4, 5])
        $0.simplePacket([6, 7, 8, 9], wire: 4)
        $0.simplePacket([6], wire: 1)
      })
    #expect(reading.error == nil)
    #expect(reading.frames.map(\.number) == [1, 2, 3, 4])
    #expect(reading.frames.map(\.bytes) == [[1, 2, 3], [4, 5], [6, 7], [6]])
    #expect(reading.frames.map(\.wireLength) == [9, 2, 4, 1])
    #expect(reading.frames.map(\.interfaceID) == [1, 1, 0, 0])
    #expect(reading.frames.map(\.linkType) == [.raw, .raw, .ethernet, .ethernet])
    #expect(
      reading.frames.map { $0.time?.nanoseconds } == [4_294_967_297_000, 5_000, nil, nil])
  }

  @Test("What interfaces lost is counted once each, section by section", arguments: [false, true])
  func countsDrops(isBigEndian: Bool) throws {
    let reading = try Reading(
      build {
        $0.section(isBigEndian: isBigEndian)
        $0.interface()
        $0.interface()
        // Received, lost by the interface and by the system, handed on.
        $0.statistics(of: 0, [(4, 100), (5, 3), (7, 2), (8, 90)])
        $0.enhancedPacket([1, 2, 3], options: [(4, 7)])
        $0.enhancedPacket([1, 2, 3, 4], options: [(2, 9)])
        $0.statistics(of: 0, [(5, 4), (7, 2)])
        $0.statistics(of: 1, [(7, 10)])
        $0.section(isBigEndian: !isBigEndian)
        $0.interface()
        $0.statistics(of: 0, [(5, 1_000)])
      })
    #expect(reading.error == nil)
    #expect(reading.frames.map(\.bytes) == [[1, 2, 3], [1, 2, 3, 4]])
    #expect(reading.framesDropped == 6 + 7 + 10 + 1_000)
  }

  @Test("Counts that can't be added up are as many as a number holds")
  func hugeDrops() throws {
    let reading = try Reading(
      build {
        $0.section()
        $0.interface()
        $0.statistics(of: 0, [(5, .max), (7, 2)])
        $0.statistics(of: 1, [(5, .max)])
      })
    #expect(reading.framesDropped == .max)
  }

  @Test("What reaches past its block counts nothing", arguments: [5, 6] as [UInt32])
  func cutOptions(_ type: UInt32) throws {
    let start: [UInt8] =
      type == 5 ? .init(repeating: 0, count: 12) : .init(repeating: 0, count: 20)
    let reading = try Reading(
      build {
        $0.section()
        $0.interface()
        for tail in [[4, 0, 8, 0, 1, 0, 0, 0], [5, 0, 9, 0, 1, 0, 0, 0], [5, 0], []] as [[UInt8]] {
          $0.block(type, start + tail)
        }
      })
    #expect(reading.error == nil)
    #expect(reading.framesDropped == 0)
  }

  private static let clocks: [(resolution: UInt8?, offset: Int64?, ticks: UInt64, time: Int64)] = [
    (nil, nil, 1_500_000, 1_500_000_000),
    (6, nil, 1_500_000, 1_500_000_000),
    (9, nil, 1_500_000_001, 1_500_000_001),
    (0, nil, 7, 7_000_000_000),
    (3, 10, 1_500, 11_500_000_000),
    (3, -10, 1_500, -8_500_000_000),
    (12, nil, 1_500_000_000_999, 1_500_000_000),
    (19, nil, 15_000_000_000_000_000_000, 1_500_000_000),
    (20, nil, 15_000_000_000_000_000_000, 150_000_000),
    (28, nil, 15_000_000_000_000_000_000, 1),
    (127, nil, .max, 0),
    (0x80, nil, 3, 3_000_000_000),
    (0x80 | 10, nil, 1_536, 1_500_000_000),
    (0x80 | 20, 1, 1_572_864, 2_500_000_000),
    (0x80 | 63, nil, 1 << 62, 500_000_000),
    (0x80 | 64, nil, 1 << 63, 500_000_000),
    (0x80 | 65, nil, 1 << 63, 250_000_000),
    (0xff, nil, .max, 0),
    // Beyond what can be said: clamped, not wrapped.
    (0, nil, .max, .max), (0, .max, 1, .max), (0, .min, 1, .min), (6, .max, .max, .max),
    (nil, nil, .max, .max), (nil, nil, 9_223_372_036_854_776, .max),
    // The year 2200, and the second after 2106-02-07T06:28:15Z.
    (nil, nil, 7_258_118_400_000_000, 7_258_118_400_000_000_000),
    (nil, nil, 4_294_967_296_000_000, 4_294_967_296_000_000_000),
  ]

  @Test(arguments: clocks)
  func convertsEveryClock(
    clock: (resolution: UInt8?, offset: Int64?, ticks: UInt64, time: Int64)
  ) throws {
    let reading = try Reading(
      build {
        $0.section()
        $0.interface(resolution: clock.resolution, offset: clock.offset)
        $0.enhancedPacket(ticks: clock.ticks, [])
      })
    #expect(reading.frames.first?.time?.nanoseconds == clock.time)
  }

  @Test func startsAnewInEverySection() throws {
    let reading = try Reading(
      build {
        $0.section(isBigEndian: true)
        $0.interface(resolution: 9)
        $0.interface()
        $0.enhancedPacket(ticks: 1, [1])
        $0.section(isBigEndian: false)
        $0.interface(linkType: 113)
        $0.enhancedPacket(ticks: 1, [2])
        $0.enhancedPacket(interface: 1, ticks: 1, [3])
      })
    #expect(reading.frames.map(\.linkType) == [.ethernet, .linuxSLL])
    #expect(reading.frames.map { $0.time?.nanoseconds } == [1, 1_000])
    #expect(reading.error?.code == .malformedRecord)
    #expect(reading.error?.message == "a frame names interface 1, the section has 1")
  }

  @Test func stepsOverWhatCarriesNoFrame() throws {
    let reading = try Reading(
      build {
        $0.section()
        $0.block(4, [0, 0, 0, 0])
        $0.interface()
        $0.block(0xbad, [1])
        $0.block(0x4000_0bad, [1, 2, 3, 4, 5])
        $0.block(5, [UInt8](repeating: 0, count: 17 << 20))
        $0.block(0, [])
        $0.enhancedPacket([1])
      })
    #expect(reading.error == nil)
    #expect(reading.frames.map(\.bytes) == [[1]])
  }

  @Test func keepsSecretsUpToALimit() throws {
    let log = Array("CLIENT_RANDOM".utf8)
    let large = [UInt8](repeating: 1, count: 5 << 20)
    let reading = try Reading(
      build {
        $0.section()
        $0.interface()
        $0.enhancedPacket([1])
        $0.secrets(type: SecretsBlock.tlsKeyLog, log)
        $0.secrets(type: 1, large)
        $0.secrets(type: 2, large)
        $0.secrets(type: 3, large + large)
        $0.enhancedPacket([2])
      })
    #expect(reading.frames.count == 2)
    #expect(reading.secrets.map(\.type) == [SecretsBlock.tlsKeyLog, 1])
    #expect(reading.secrets.first?.bytes == log)
    #expect(reading.secrets.first?.frame == 1)
    #expect(reading.secretsDropped == 2)
  }

  @Test(arguments: [0, 4, 8, 11, 13, 30] as [UInt32])
  func stopsAtImpossibleLengths(length: UInt32) throws {
    for type: UInt32 in [1, 2, 3, 4, 5, 6, 10, 99] {
      let bytes = build {
        $0.section()
        $0.interface()
        $0.enhancedPacket([1])
        $0.block(type, [UInt8](repeating: 0, count: 40), length: length)
      }
      let reading = try Reading(bytes)
      #expect(reading.frames.count == 1)
      #expect(reading.error?.code == .malformedRecord)
      #expect(reading.error?.frame == 2)
      #expect(reading.error?.offset == bytes.count - 52 + 4)
    }
  }

  @Test(arguments: [1, 2, 3, 4, 6, 10, 99] as [UInt32])
  func stopsWhereTheLengthsDiffer(type: UInt32) throws {
    let reading = try Reading(
      build {
        $0.section()
        $0.interface()
        $0.block(type, [UInt8](repeating: 0, count: 40), copy: 48)
        $0.enhancedPacket([1])
      })
    #expect(reading.frames.isEmpty)
    #expect(reading.error?.code == .malformedRecord)
    #expect(reading.error?.message == "a block of 52 bytes ends with the length 48")
  }

  @Test func stopsAtFourGigabytes() throws {
    for (type, code): (UInt32, CaptureError.Code) in [
      (6, .recordTooLarge), (1, .recordTooLarge), (99, .truncated), (10, .truncated),
    ] {
      let reading = try Reading(
        build {
          $0.section()
          $0.interface()
          $0.enhancedPacket([1])
          $0.block(type, [1], length: 0xffff_fffc)
        })
      #expect(reading.frames.count == 1)
      #expect(reading.error?.code == code)
    }
  }

  @Test func refusesFramesThatDoNotFit() throws {
    let makers: [@Sendable (inout PcapngBuilder) -> Void] = [
      { $0.enhancedPacket([1], captured: 5) },
      { $0.enhancedPacket([1], captured: .max) },
      { $0.block(6, []) },
      { $0.block(3, []) },
      { $0.block(1, []) },
      { $0.block(1, [1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 200, 0]) },
      { $0.section(major: 2) },
      { $0.block(0x0a0d_0d0a, [9, 9, 9, 9, 1, 0, 0, 0]) },
    ]
    for make in makers {
      let reading = try Reading(
        build {
          $0.section()
          $0.interface()
          $0.enhancedPacket([7])
          make(&$0)
          $0.enhancedPacket([8])
        })
      #expect(reading.frames.map(\.bytes) == [[7]])
      #expect(reading.error != nil)
    }
  }

  @Test func wantsInterfacesBeforeFrames() throws {
    let reading = try Reading(
      build {
        $0.section()
        $0.simplePacket([1], wire: 1)
      })
    #expect(reading.error?.message == "a frame precedes the description of its interface")
  }

  @Test func takesManyInterfacesButNotEndlesslyMany() throws {
    let reading = try Reading(
      build {
        $0.section()
        for _ in 0..<65_536 { $0.interface() }
        $0.enhancedPacket(interface: 65_535, [1])
        $0.interface()
      })
    #expect(reading.frames.map(\.interfaceID) == [65_535])
    #expect(reading.error?.code == .malformedRecord)
  }
}
