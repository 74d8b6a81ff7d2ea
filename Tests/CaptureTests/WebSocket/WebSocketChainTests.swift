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

  /// What a mask makes of one byte over and over is four bytes over and over.
  @Test("Headers that come again with their keys prove nothing, other ones do")
  func periodic() {
    // Frames of 8, 16 and 252 bytes, one by one and two by two.
    let runs: [[UInt8]] = [
      [0x82, 0x82, 0x11, 0x22], [0x82, 0x8A, 0x11, 0x22], [0x00, 0xF6, 0x12, 0x34],
      [0x01, 0x82, 0x31, 0x32, 0x00, 0x82, 0x33, 0x34],
    ].map { period in (0..<1_024).flatMap { _ in period } }
    for run in runs {
      for start in 0..<8 {
        let chain = WebSocketChain(run.span.bytes, from: start, hint: true)
        #expect(chain.isBroken || !chain.proves(isExact: true) && !chain.provesAnywhere)
      }
    }
    let keys: [UInt32] = [0x1122_3344, 0x5566_7788, 0x99AA_BBCC]
    let frames = keys.flatMap { WebSocketFrame(.binary, [1, 2], maskingKey: $0).encoded() }
    #expect(WebSocketChain(frames.span.bytes, from: 0, hint: true).proves(isExact: false))
    let unkeyed = keys.flatMap { _ in WebSocketFrame(.binary, [1, 2], maskingKey: 0).encoded() }
    #expect(WebSocketChain(unkeyed.span.bytes, from: 0, hint: true).proves(isExact: false))
  }
}
