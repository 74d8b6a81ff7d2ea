import RepriseCore
import Wire
import WireDeflate

/// A frame that came, as far as a case has to know of it.
struct HeardFrame {
  let opcode: WebSocketOpcode
  /// What a control frame says.
  let payload: [UInt8]
}

/// One end of a WebSocket, over the bytes that carry it: it cuts frames out of them, and compresses messages.
///
/// What breaks a rule is taken as well as it can be: that it did is for those who judge the recording.
struct WebSocketPart: ~Copyable {
  /// Which end it is.
  let own: Peer
  private var reader = HTTPHeadReader()
  private var framer = WebSocketFramer()
  private var receiver: WebSocketReceiver
  private var deflater: WebSocketDeflater?
  private var assembler = WebSocketAssembler()
  /// Whether frames can come.
  private(set) var isOpen = false
  /// Whether what comes can't be cut into frames any more.
  private(set) var isStrange = false

  /// Creates an end that waits for the other one's handshake.
  init(_ own: Peer) {
    self.own = own
    receiver = WebSocketReceiver(from: own == .client ? .server : .client)
  }

  /// Lets frames pass, by what was agreed on.
  /// - Parameter deflate: The agreement on permessage-deflate; nil where there is none.
  mutating func open(_ deflate: PermessageDeflate?) {
    isOpen = true
    guard let deflate else { return }
    let other: WebSocketRole = own == .client ? .server : .client
    receiver = WebSocketReceiver(from: other, deflate: deflate.agreement(for: other))
    let bits = (own == .client ? deflate.clientMaxWindowBits : deflate.serverMaxWindowBits) ?? 15
    let keeps = own == .client ? !deflate.clientNoContextTakeover : !deflate.serverNoContextTakeover
    // A window of 256 bytes is none that zlib keeps to; that nothing is compressed is allowed.
    deflater = bits > 8 ? WebSocketDeflater(windowBits: bits, keepsContext: keeps) : nil
  }

  /// Compresses a message; nil where that was not agreed on.
  mutating func deflated(_ message: [UInt8]) -> [UInt8]? { deflater?.deflate(message) }

  /// Takes bytes of the handshake.
  /// - Parameter bytes: The bytes.
  /// - Returns: The head that they end, with what stands behind it.
  mutating func readHead(_ bytes: ArraySlice<UInt8>) -> (head: HTTPHead, rest: [UInt8])? {
    let piece = Array(bytes)
    guard case .head(let head, let used) = reader.consume(piece.span.bytes) else { return nil }
    return (head, Array(piece.dropFirst(used)))
  }

  /// Takes bytes of frames.
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - take: Is told of each frame, and of the message that it ends.
  mutating func read(
    _ bytes: [UInt8], _ take: (HeardFrame, WebSocketAssembler.Message?) -> Void
  ) {
    guard !isStrange else { return }
    var frames: [(bytes: [UInt8], header: WebSocketFrameHeader)] = []
    do throws(WebSocketFramingError) {
      try framer.consume(bytes.span.bytes) { frame, header, _ in
        frames.append((Array(copying: frame), header))
      }
    } catch {
      isStrange = true
    }
    for (frame, header) in frames {
      var message: WebSocketAssembler.Message?
      var heard: HeardFrame?
      receiver.receive(frame.span.bytes, header) { view in
        let isControl = view.opcode.isControl
        heard = HeardFrame(
          opcode: view.opcode, payload: isControl ? Array(copying: view.payload) : [])
        message = assembler.take(view)
      }
      if let heard { take(heard, message) }
    }
  }
}
