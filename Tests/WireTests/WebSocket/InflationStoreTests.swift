import Testing
import Wire
import WireDeflate

/// What the senders of a capture may inflate to together.
@Suite struct InflationStoreTests {
  private static let zeros = [UInt8](repeating: 0, count: 200_000)

  /// A message of 200,000 zeros, compressed for itself.
  private static let bomb = Packer().deflate(zeros)

  private static func frame(_ message: [UInt8]) -> WebSocketFrame {
    WebSocketFrame(.binary, message, reservedBits: 4)
  }

  private static func compressions(
    _ frames: [WebSocketFrame], _ store: InflationStore
  ) -> [WebSocketCompression] {
    SeenStream(frames.stream, deflate: WebSocketDeflateTests.forgets, store: store)
      .frames.map(\.compression)
  }

  @Test("A message may become 100 times as large, 4 KiB, and what is in the store besides")
  func factor() {
    let excess = Self.zeros.count - 100 * Self.bomb.count - 4_096
    #expect(excess > 150_000)
    for (bytes, expected) in [
      (excess, WebSocketCompression.inflated), (excess - 1, .kept(.tooMuch)),
    ] {
      let store = InflationStore(of: bytes)
      #expect(Self.compressions([Self.frame(Self.bomb)], store) == [expected])
      #expect(store.refused == (expected == .inflated ? 0 : 1))
    }
  }

  @Test("Senders share the store")
  func shared() {
    let store = InflationStore(of: 300_000)
    #expect(Self.compressions([Self.frame(Self.bomb)], store) == [.inflated])
    #expect(Self.compressions([Self.frame(Self.bomb)], store) == [.kept(.tooMuch)])
    #expect(store.refused == 1)
  }

  @Test("Messages that become less than 100 times as large need no store")
  func ordinary() {
    let text = (0..<300).flatMap { Array("\"value\":\($0 * 7_919),".utf8) }
    let packer = Packer(keepsContext: false)
    let frames = (0..<400).map { _ in Self.frame(packer.deflate(text)) }
    let store = InflationStore(of: 0)
    #expect(
      Self.compressions(frames, store) == Array(repeating: .inflated, count: frames.count))
    // What they left entitles their sender to more.
    #expect(Self.compressions(frames + [Self.frame(Self.bomb)], store).last == .inflated)
    #expect(store.refused == 0)
  }

  @Test("A message may become 4 KiB besides, be it sent over and over", arguments: [6_000, 7_000])
  func floor(_ count: Int) {
    let message = Packer().deflate([UInt8](repeating: 0, count: count))
    let frames = Array(repeating: Self.frame(message), count: 50)
    let store = InflationStore(of: 0)
    let isInflated = count == 6_000
    #expect(isInflated == (count <= 4_096 + 100 * message.count))
    let expected: WebSocketCompression = isInflated ? .inflated : .kept(.tooMuch)
    #expect(Self.compressions(frames, store) == Array(repeating: expected, count: 50))
    #expect(store.refused == (isInflated ? 0 : 50))
  }

  @Test("A message that was refused is refused to its end, and counted once; the next one is read")
  func afterwards() {
    let half = Self.bomb.count / 2
    let frames = [
      WebSocketFrame(
        .binary, Array(Self.bomb[..<half]), isFinal: false, reservedBits: 4),
      WebSocketFrame(.continuation, Array(Self.bomb[half...])),
      Self.frame(Packer().deflate(Array("Hello".utf8))),
    ]
    let store = InflationStore(of: 1_000)
    #expect(
      Self.compressions(frames, store) == [.kept(.tooMuch), .kept(.tooMuch), .inflated])
    #expect(store.refused == 1)
  }
}
