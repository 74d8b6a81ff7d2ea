import Wire
import WireDeflate

/// All there is to know of a frame that a receiver handed out.
struct SeenFrame: Equatable {
  var opcode: WebSocketOpcode
  var isFinal: Bool
  var payload: [UInt8]
  var data: [UInt8]
  var compression: WebSocketCompression
  var missing: Int
  var faults: [WebSocketFault]

  init(_ view: borrowing WebSocketFrameView) {
    opcode = view.opcode
    isFinal = view.header.isFinal
    payload = Array(copying: view.payload)
    data = Array(copying: view.data)
    compression = view.compression
    missing = view.missing
    faults = view.faults
  }

  var codes: [WebSocketFault.Code] { faults.map(\.code) }
  var text: String { String(decoding: data, as: UTF8.self) }
}

/// What a whole stream of one sender gives.
struct SeenStream {
  var frames: [SeenFrame] = []
  var messages: [WebSocketAssembler.Message] = []
  var error: WebSocketFramingError?

  init(
    _ stream: [UInt8], from sender: WebSocketRole = .server, pieces size: Int = .max,
    deflate: WebSocketReceiver.Agreement = .none, isFromStart: Bool = true,
    limit: Int = 16 << 20, store: InflationStore? = nil
  ) {
    var framer = WebSocketFramer()
    var receiver = WebSocketReceiver(
      from: sender, deflate: deflate, isFromStart: isFromStart, limit: limit, store: store)
    var assembler = WebSocketAssembler()
    var position = 0
    while position < stream.count, error == nil {
      let piece = Array(stream[position..<min(stream.count, position &+ min(size, stream.count))])
      position += piece.count
      do throws(WebSocketFramingError) {
        try framer.consume(piece.span.bytes) { bytes, header, _ in
          receiver.receive(bytes, header) { view in
            frames.append(SeenFrame(view))
            if let message = assembler.take(view) { messages.append(message) }
          }
        }
      } catch { self.error = error }
    }
  }

  var codes: [WebSocketFault.Code] { frames.flatMap(\.codes) }
}

extension WebSocketFrame {
  /// A frame of text.
  static func text(_ text: String, isFinal: Bool = true, key: UInt32? = nil) -> WebSocketFrame {
    WebSocketFrame(.text, Array(text.utf8), isFinal: isFinal, maskingKey: key)
  }
}

extension [WebSocketFrame] {
  var stream: [UInt8] { flatMap { $0.encoded() } }
}

/// A deflater that a test can hand about; one that can't be made makes nothing, and the test fails.
final class Packer {
  private var deflater: WebSocketDeflater?

  init(windowBits: Int = 15, keepsContext: Bool = true) {
    deflater = WebSocketDeflater(windowBits: windowBits, keepsContext: keepsContext)
  }

  func deflate(_ message: [UInt8]) -> [UInt8] { deflater?.deflate(message) ?? [] }
}
