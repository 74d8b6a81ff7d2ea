import Testing
import Wire

@testable import Capture

/// Runs of frames, as far as they prove something.
@Suite struct WebSocketChainTests {
  /// A frame of a server that holds what is no MQTT.
  private static let binary = WebSocketFrame(.binary, [1, 2, 3]).encoded()
  private static let text = WebSocketFrame(.text, Array("hello".utf8)).encoded()

  private static func frames(_ bytes: [UInt8], isSearch: Bool) -> Int {
    WebSocketChain(bytes.span.bytes, from: 0, hint: false, isSearch: isSearch).frames
  }

  @Test("Where each byte is tried, a run that proves nothing is short")
  func search() {
    let zeros = [UInt8](repeating: 0, count: 1 << 16)
    #expect(Self.frames(zeros, isSearch: true) == 8)
    #expect(Self.frames(zeros, isSearch: false) == 32)
  }

  @Test("What proves itself later is still found where each byte is tried")
  func late() {
    let run = (0..<7).flatMap { _ in Self.binary } + (0..<3).flatMap { _ in Self.text }
    let chain = WebSocketChain(run.span.bytes, from: 0, hint: false, isSearch: true)
    #expect(chain.frames == 10 && chain.provesAnywhere && chain.isExact(run.span.bytes))
    let longer = (0..<8).flatMap { _ in Self.binary } + (0..<3).flatMap { _ in Self.text }
    #expect(Self.frames(longer, isSearch: true) == 8)
  }

  @Test("Text is checked at its start, masked or not", arguments: [nil, 0x1234_5678 as UInt32])
  func longText(_ key: UInt32?) {
    for (place, isBroken) in [(10, true), (4_095, true), (5_000, false)] {
      var text = [UInt8](repeating: 0x61, count: 6_000)
      text[place] = 0xFF
      let frame = WebSocketFrame(.text, text, maskingKey: key).encoded()
      let chain = WebSocketChain(frame.span.bytes, from: 0, hint: key != nil)
      #expect(chain.isBroken == isBroken && chain.frames == (isBroken ? 0 : 1))
    }
  }
}
