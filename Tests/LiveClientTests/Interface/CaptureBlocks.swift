/// The blocks of a pcapng file, taken apart without the reader that is tested.
struct CaptureBlocks {
  struct Block {
    let type: UInt32
    let bytes: [UInt8]
    /// The options behind the fields that the block begins with.
    let options: [UInt16: [UInt8]]

    /// An option that is a number.
    func number(_ code: UInt16) -> UInt64? {
      options[code].map { $0.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    }

    /// An option that is a text.
    func text(_ code: UInt16) -> String? {
      options[code].map { String(decoding: $0, as: UTF8.self) }
    }
  }

  let all: [Block]

  /// The packets.
  var packets: Int { all.count { $0.type == 6 } }
  /// What is said of the file.
  var section: Block? { all.first { $0.type == 0x0A0D_0D0A } }
  var interfaces: [Block] { all.filter { $0.type == 1 } }
  var statistics: [Block] { all.filter { $0.type == 5 } }

  init(_ path: String) {
    var blocks: [Block] = []
    var rest = Child.bytes(of: path)[...]
    while rest.count >= 12 {
      let type = Self.number(rest.prefix(4))
      let length = Int(Self.number(rest.dropFirst(4).prefix(4)))
      guard length >= 12, length <= rest.count else { break }
      let body = Array(rest.prefix(length - 4).dropFirst(8))
      let fields: Int? =
        switch type {
        case 0x0A0D_0D0A: 16
        case 1: 8
        case 5: 12
        default: nil
        }
      blocks.append(
        Block(
          type: type, bytes: body, options: fields.map { Self.options(body.dropFirst($0)) } ?? [:]))
      rest = rest.dropFirst(length)
    }
    all = blocks
  }

  private static func options(_ bytes: ArraySlice<UInt8>) -> [UInt16: [UInt8]] {
    var options: [UInt16: [UInt8]] = [:]
    var rest = bytes
    while rest.count >= 4 {
      let code = UInt16(number(rest.prefix(2)))
      let length = Int(number(rest.dropFirst(2).prefix(2)))
      guard code != 0 else { break }
      options[code] = Array(rest.dropFirst(4).prefix(length))
      rest = rest.dropFirst(4 + (length + 3) / 4 * 4)
    }
    return options
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
