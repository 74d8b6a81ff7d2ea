import Testing

@testable import SessionView

/// Keys of the bytes that terminals send.
@Suite struct KeyDecoderTests {
  @Test(arguments: [
    ("j", [Key.character("j")]), ("\r", [.enter]), ("\t", [.tab]), ("\u{7F}", [.backspace]),
    ("\u{0C}", [.control("l")]), ("é中", [.character("é"), .character("中")]),
    ("\u{1B}[A\u{1B}[B", [.up, .down]), ("\u{1B}OC\u{1B}OD", [.right, .left]),
    ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]), ("\u{1B}[1~\u{1B}[4~", [.home, .end]),
    ("\u{1B}[H\u{1B}OF", [.home, .end]), ("\u{1B}[3~", [.delete]),
    // With Ctrl, as xterm sends it, it is the same key.
    ("\u{1B}[1;5A", [.up]),
    // A key that has no meaning leaves nothing of itself behind.
    ("\u{1B}[25~x", [.character("x")]), ("\u{1B}jk", [.character("k")]),
    ("\u{1B}\u{1B}[A", [.escape, .up]), ("\0\u{1C}", []),
  ])
  func decodes(_ typed: String, _ keys: [Key]) {
    var decoder = KeyDecoder()
    #expect(decoder.take(Array(typed.utf8)) == keys)
    #expect(!decoder.isWaiting)
  }

  /// However the bytes are cut, the keys are the same.
  @Test func takesBytesInParts() {
    let typed = Array("a\u{1B}[5~é\u{1B}OA中\u{1B}[1;5D".utf8)
    let keys: [Key] = [
      .character("a"), .pageUp, .character("é"), .up, .character("中"), .left,
    ]
    for cut in 0...typed.count {
      var decoder = KeyDecoder()
      let found = decoder.take(typed[..<cut]) + decoder.take(typed[cut...])
      #expect(found == keys, "\(cut)")
    }
  }

  @Test func takesEscapeAloneWhenNothingFollows() {
    var decoder = KeyDecoder()
    #expect(decoder.take([0x1B]) == [] && decoder.isWaiting)
    #expect(decoder.flush() == [.escape] && !decoder.isWaiting)
  }

  /// What is no UTF-8, and sequences without an end, are dropped and stop nothing.
  @Test func survivesAnything() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      var decoder = KeyDecoder()
      let bytes = (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }
      _ = decoder.take(bytes)
      _ = decoder.flush()
      #expect(!decoder.isWaiting, "\(bytes)")
      #expect(decoder.take([UInt8(ascii: "j")]) == [.character("j")], "\(bytes)")
    }
  }
}
