import CWebSockets
import Wire

/// permessage-deflate for the library, which only has to leave the bytes alone (RFC 7692).
///
/// The library's own extension aborts the process when a message does not fit its buffers just so, in
/// either direction. So messages are deflated before the library gets them, and inflated behind it; all
/// that is done inside of it is to agree, and to mark the first frame of a message that is deflated.
enum WebSocketDeflate {
  /// What is offered: without context this side needs no agreement on a window.
  static let offer = "permessage-deflate; client_no_context_takeover"
  /// RSV1, which marks a message that is deflated (RFC 7692 section 6).
  static let mark: UInt8 = 0x40

  /// Makes the list of extensions; to be deallocated when the context is gone.
  /// - Parameters:
  ///   - isOffered: Whether there is one.
  ///   - strings: Keeps the names for at least as long.
  /// - Returns: The list, whose last element is empty.
  static func makeList(
    isOffered: Bool, _ strings: inout CStrings
  ) -> UnsafeMutablePointer<lws_extension> {
    let list = UnsafeMutablePointer<lws_extension>.allocate(capacity: 2)
    list.initialize(repeating: lws_extension(), count: 2)
    guard isOffered else { return list }
    list[0].name = strings.keep(PermessageDeflate.name)
    list[0].client_offer = strings.keep(offer)
    list[0].callback = { _, _, wsi, reason, _, data, _ in
      WebSocketDeflate.callback(wsi, reason, data)
    }
    return list
  }

  private static func callback(
    _ wsi: OpaquePointer?, _ reason: lws_extension_callback_reasons,
    _ data: UnsafeMutableRawPointer?
  ) -> Int32 {
    switch reason {
    case LWS_EXT_CB_CLIENT_CONSTRUCT:
      // The library reads the server's parameters by this list.
      data?.assumingMemoryBound(to: UnsafePointer<lws_ext_options>?.self).pointee =
        websocket_deflate_options()
      link(of: wsi)?.agreeOnDeflate()
    case LWS_EXT_CB_PACKET_TX_PRESEND:
      guard let link = link(of: wsi), let data else { return 0 }
      let frame = data.assumingMemoryBound(to: lws_tokens.self).pointee
      if link.takeMark(), frame.len > 0, let first = frame.token { first.pointee |= mark }
    default: break
    }
    return 0
  }

  private static func link(of wsi: OpaquePointer?) -> WebSocketLink? {
    guard let wsi, let user = lws_wsi_user(wsi) else { return nil }
    return Unmanaged<WebSocketLink>.fromOpaque(user).takeUnretainedValue()
  }
}
